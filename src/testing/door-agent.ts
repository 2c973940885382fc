import { z } from 'zod';
import { defineAgent } from '../agent/define-agent.ts';
import { type Agent, reply, skill } from '../agent/definition.ts';

/** An agent for the tests of the doors: what it does is seen at once. */
export function doorAgent(name = 'door'): Agent {
  return defineAgent({
    name,
    description: 'For tests of the doors.',
    version: '7',
    skills: {
      default: skill({ description: 'Says it back.', run: (turn) => `echo: ${turn.text}` }),
      ask: skill({
        description: 'Asks once.',
        run: async (turn) => `got ${await turn.ask('What?')}`,
      }),
      hold: skill({
        description: 'Works until it is told to stop.',
        run: (turn) =>
          new Promise<string>((_resolve, reject) => {
            turn.signal.addEventListener('abort', () => reject(turn.signal.reason), { once: true });
          }),
      }),
      file: skill({
        description: 'Makes one file of two chunks, and one of two kinds of parts.',
        async run(turn) {
          const file = turn.artifact('../r\u00e9sum\u00e9 "1".html', { mediaType: 'text/html' });
          await file.append('<b>');
          await file.append('\u2713', { last: true });
          const mixed = turn.artifact('mixed');
          await mixed.append('text');
          await mixed.append({ data: [1] }, { last: true });
        },
      }),
      typed: skill({
        description: 'Takes numbers.',
        input: z.object({ count: z.number() }),
        output: z.object({ doubled: z.number() }),
        run: (turn) => ({ doubled: turn.input.count * 2 }),
      }),
      images: skill({ description: 'Takes images.', inputModes: ['image/*'], run: () => 'seen' }),
      ping: reply({ description: 'Answers at once.', effect: 'none', run: (turn) => `pong ${turn.text}` }),
    },
  }) as unknown as Agent;
}

let messages = 0;

/** A message of a client, with an id of its own. */
export function clientMessage(fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  messages += 1;
  const { skill: skillId, ...rest } = fields;
  return {
    messageId: `m-${messages}`,
    role: 'ROLE_USER',
    parts: [{ text: 'hi' }],
    ...(skillId === undefined ? {} : { metadata: { skillId } }),
    ...rest,
  };
}
