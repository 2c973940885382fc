import { appendFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { defineAgent } from '../../src/agent/define-agent.ts';
import { skill } from '../../src/agent/definition.ts';
import { Expired } from '../../src/agent/errors.ts';

/** The outside world: a line per effect, kept where no crash reaches it. */
function effect(line: string): void {
  const file = process.env.CRASH_LEDGER;
  if (file !== undefined) appendFileSync(file, `${line}\n`);
}

/** Every way in which a turn can be cut: streaming, steps and a question, a timer, a cancel that waits for it. */
export default defineAgent({
  name: 'crash',
  description: 'Does what a crash could spoil.',
  policy: { crashesMax: 50 },
  skills: {
    stream: skill({
      description: 'Streams 40 numbered lines.',
      async run(turn) {
        const lines = turn.artifact('lines');
        for (let index = 0; index < 40; index += 1) {
          await lines.append(`${index}\n`);
          await wait(1, undefined, { signal: turn.signal });
        }
        await lines.close();
        return undefined;
      },
    }),
    order: skill({
      description: 'Two paid steps around a question.',
      async run(turn) {
        await turn.step('reserve', ({ idempotencyKey }) => effect(`reserve ${idempotencyKey}`));
        await turn.status('reserved');
        const { count } = await turn.ask('How many?', { schema: z.object({ count: z.number().int() }) });
        await turn.step('charge', ({ idempotencyKey }) => effect(`charge ${idempotencyKey} ${count}`));
        return `charged for ${count}`;
      },
    }),
    chain: skill({
      description: 'Three paid steps, a question, a sleep that parks and a streamed artifact.',
      async run(turn) {
        const step = (name: string) =>
          turn.step(name, ({ idempotencyKey }) => {
            effect(`effect ${name} ${idempotencyKey}`);
            return `${name} done`;
          });
        await turn.status('begins');
        const found = await step('search');
        const [read] = await Promise.all([step('read'), turn.status('reads')]);
        const { ship } = await turn.ask('Ship it?', { schema: z.object({ ship: z.boolean() }) });
        const report = turn.artifact('report', { mediaType: 'text/markdown' });
        for (const word of ['It ', 'rains ', 'in ', 'Oslo', '.']) {
          await report.append(word);
          await report.flush();
        }
        await turn.sleep('5s');
        await turn.status('ships');
        const shipped = await step('ship');
        await report.append(` ${ship}`, { last: true });
        return [found, read, shipped].join(', ');
      },
    }),
    timer: skill({
      description: 'Asks, and goes on when nobody answers in time.',
      async run(turn) {
        try {
          await turn.ask('Anybody?', { timeout: '300ms' });
          return 'somebody';
        } catch (error) {
          if (!(error instanceof Expired)) throw error;
          await turn.step('give up', ({ idempotencyKey }) => effect(`give-up ${idempotencyKey}`));
          return 'nobody';
        }
      },
    }),
    endless: skill({
      description: 'Works until it is canceled.',
      async run(turn) {
        for (;;) {
          await turn.status('still here');
          await wait(50, undefined, { signal: turn.signal });
        }
      },
    }),
  },
});
