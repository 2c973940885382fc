import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import { defineAgent } from './define-agent.ts';
import { reply, skill } from './definition.ts';
import { completed, inputRequired } from './errors.ts';

/*
 * What the compiler promises to authors. Nothing here runs: `npm run typecheck` reads it, and an `@ts-expect-error`
 * above a line that compiles after all is an error itself.
 */

const Report = z.object({ topic: z.string().min(1), pages: z.int().default(3) });

const typed = defineAgent({
  name: 'reporter',
  description: 'Writes reports',
  skills: {
    report: skill({
      description: 'A report',
      input: Report,
      output: z.object({ url: z.string(), words: z.number().default(0) }),
      say: (output) => `${output.words satisfies number} words at ${output.url}`,
      async run(turn) {
        turn.input.pages satisfies number; // the schema's default is applied
        const answer = await turn.ask('Publish?', {
          schema: z.object({ publish: z.boolean(), when: z.coerce.date() }),
        });
        answer.publish satisfies boolean;
        answer.when satisfies Date;
        (await turn.ask('Why?')) satisfies string;
        return { url: turn.input.topic }; // what the output's schema takes, before its defaults
      },
    }),
    ping: reply({ description: 'pong', run: (turn) => `pong ${turn.text}` }),
  },
});
typed.skills.report.input satisfies typeof Report;
typed.skills.ping.kind satisfies 'reply';
// @ts-expect-error the agent has no such skill
typed.skills.reprot;

skill({
  description: 'x',
  input: v.object({ city: v.string(), days: v.optional(v.number(), 1) }),
  output: v.object({ degrees: v.number() }),
  run(turn) {
    turn.input.days satisfies number;
    // @ts-expect-error the schema has no such field
    turn.input.weeks;
    return { degrees: turn.input.city.length };
  },
});

skill({
  description: 'x',
  input: type({ city: 'string', days: 'number = 1' }),
  output: type({ degrees: 'number' }),
  run(turn) {
    turn.input.days satisfies number;
    // @ts-expect-error the schema has no such field
    turn.input.weeks;
    return { degrees: turn.input.city.length };
  },
});

// @ts-expect-error the output must be what its zod schema takes
skill({ description: 'x', output: z.object({ n: z.number() }), run: async () => ({ n: 'no' }) });
// @ts-expect-error the output must be what its valibot schema takes
skill({ description: 'x', output: v.object({ n: v.number() }), run: async () => ({ n: 'no' }) });
// @ts-expect-error the output must be what its arktype schema takes
skill({ description: 'x', output: type({ n: 'number' }), run: async () => ({ n: 'no' }) });
// @ts-expect-error without an output schema a skill returns text
skill({ description: 'x', run: async () => ({ n: 1 }) });
// @ts-expect-error a reply returns what its output schema takes
reply({ description: 'x', output: z.object({ n: z.number() }), run: () => 'no' });
// @ts-expect-error a reply has no task to leave interrupted
reply({ description: 'x', run: () => inputRequired('Which one?') });

skill({ description: 'x', run: () => inputRequired('Which one?') });
skill({ description: 'x', output: z.object({ n: z.number() }), run: () => completed('Sent.') });
// @ts-expect-error a reply is its answer: there is no task to complete
reply({ description: 'x', run: () => completed('Sent.') });
skill({ description: 'x', output: z.object({ n: z.number() }), run: () => inputRequired('Which one?') });
skill({ description: 'x', run: async (turn) => turn.status('nothing to hand back') });
skill({
  description: 'x',
  async run(turn) {
    await turn.status('nothing to hand back');
  },
});

reply({
  description: 'x',
  async run(turn) {
    turn.text satisfies string;
    // @ts-expect-error a reply has no task: there is nobody to ask
    await turn.ask('hm?');
    // @ts-expect-error a reply has no journal
    await turn.step('pay', () => 1);
    // @ts-expect-error a reply answers at once
    await turn.sleep('1h');
    // @ts-expect-error a reply has no status
    await turn.status('on it');
    return 'x';
  },
});

defineAgent({
  name: 'x',
  description: 'y',
  async run(turn) {
    turn.input satisfies string;
    await turn.sleep('3h');
    await turn.sleep(new Date(0));
    // @ts-expect-error a bare number has no unit
    await turn.sleep(3);
    // @ts-expect-error weeks are no unit
    await turn.sleep('3w');
    await turn.status('found three');
    await turn.status({ data: ['m1'] });
    const load = await turn.step('load', async () => ({ hits: 3, at: new Date(0), all: new Map([['a', 1n]]) }));
    load.hits satisfies number;
    load.at satisfies Date;
    load.all satisfies Map<string, bigint>;
    // @ts-expect-error a function is no result that a journal can keep
    await turn.step('make', async () => () => 1);
    return turn.text;
  },
});

// @ts-expect-error an agent has skills or one handler, not both
defineAgent({ name: 'x', description: 'y', run: (turn) => turn.text, skills: { ping: typed.skills.ping } });
