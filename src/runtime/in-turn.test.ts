import { expect, test } from 'vitest';
import { letOthersGoOn } from './event-loop.ts';
import { InTurn } from './in-turn.ts';

test('work under one key waits for what came before it, also where that failed; other keys wait for nobody', async () => {
  const turns = new InTurn();
  const began: string[] = [];
  const gate = Promise.withResolvers<string>();
  const first = turns.do('a', () => {
    began.push('first');
    return gate.promise;
  });
  const second = turns.do('a', async () => began.push('second'));
  await turns.do('b', async () => began.push('other'));
  expect(began).toEqual(['first', 'other']);
  gate.reject(new Error('no'));
  await expect(first).rejects.toThrow('no');
  await second;
  expect(began).toEqual(['first', 'other', 'second']);
  await letOthersGoOn();
  expect(turns.size).toBe(0);
});
