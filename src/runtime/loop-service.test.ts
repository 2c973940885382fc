import { describe, expect, test } from 'vitest';
import { silentLogger } from '../base/log.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { createLoop, untilAborted } from './loop-service.ts';

function createCounter(round: (count: number) => void = () => {}) {
  const clock = createFakeClock();
  let rounds = 0;
  const loop = createLoop({
    name: 'counter',
    clock,
    log: silentLogger,
    errorPauseMs: 100,
    round: async (signal) => {
      rounds += 1;
      round(rounds);
      await clock.sleep(1_000, signal);
    },
  });
  return { clock, loop, rounds: () => rounds };
}

describe('a loop', () => {
  test('starts once however often, and stops once and for all', async () => {
    const { clock, loop, rounds } = createCounter();
    await loop.stop(clock.now());
    await Promise.all([loop.start(), loop.start()]);
    await clock.advance('2s');
    expect(rounds()).toBe(3);
    await Promise.all([loop.stop(clock.now()), loop.stop(clock.now())]);
    await clock.advance('5s');
    expect([rounds(), clock.sleeping()]).toEqual([3, 0]);
  });

  test('a stop while it starts leaves nothing', async () => {
    const { clock, loop } = createCounter();
    await Promise.all([loop.start(), loop.stop(clock.now())]);
    await loop.stop(clock.now());
    expect(clock.sleeping()).toBe(0);
  });

  test('a round that fails is followed by another', async () => {
    const { clock, loop, rounds } = createCounter((count) => {
      if (count === 1) throw new Error('the store is away');
    });
    await loop.start();
    await clock.advance(100);
    expect(rounds()).toBe(2);
    await loop.stop(clock.now());
  });
});

test('work that is given up on leaves no listener, and its failure disturbs nobody', async () => {
  const stop = new AbortController();
  let fail: ((error: Error) => void) | undefined;
  const work = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  const wait = untilAborted(work, stop.signal);
  stop.abort(new Error('enough'));
  await expect(wait).rejects.toThrow('enough');
  fail?.(new Error('too late'));
  await expect(untilAborted(Promise.resolve(1), stop.signal)).rejects.toThrow('enough');
  await expect(untilAborted(Promise.resolve(1), new AbortController().signal)).resolves.toBe(1);
});
