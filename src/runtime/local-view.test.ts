import { expect, test } from 'vitest';
import { defineAgent } from '../agent/define-agent.ts';
import { inputRequired } from '../agent/errors.ts';
import { RunWorld } from '../testing/run-world.ts';

test('a message that waits behind an interrupted turn is not forgotten when the turn after it completes', async () => {
  const gate = Promise.withResolvers<void>();
  const done: string[] = [];
  const agent = defineAgent({
    name: 'queuer',
    description: 'Interrupts its first turn.',
    policy: { whenBusy: 'queue' },
    run: async (turn) => {
      if (turn.text === 'first') {
        await gate.promise;
        return inputRequired('Go on?');
      }
      done.push(turn.text);
      return undefined;
    },
  });
  const world = await RunWorld.open({ agent });
  await world.submit('first');
  await world.claim();
  await world.settleDown();
  await world.reply('second, queued');
  gate.resolve();
  await world.work();
  expect(await world.state()).toBe('input-required');
  await world.answer('third, goes on');
  expect([done, await world.state()]).toEqual([['third, goes on', 'second, queued'], 'completed']);
});
