import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../testing/fake-clock.ts';
import { never } from '../testing/runtime-node.ts';
import { createWakeups } from './wakeups.ts';

describe('wakeups', () => {
  test('a wakeup between two waits is kept, and two are one', async () => {
    const clock = createFakeClock();
    const wakeups = createWakeups(clock);
    const listener = wakeups.listen('a');
    wakeups.wake('a');
    wakeups.wake('a');
    await listener.next({ pollMs: 1_000, signal: never });
    const second = listener.next({ pollMs: 1_000, signal: never });
    await clock.untilSleeping(1);
    wakeups.wake('b');
    expect(clock.sleeping()).toBe(1);
    wakeups.wake('a');
    await second;
    expect(clock.sleeping()).toBe(0);
  });

  test('without one the wait ends at the poll', async () => {
    const clock = createFakeClock();
    const listener = createWakeups(clock).listen('a');
    let isOver = false;
    const wait = listener.next({ pollMs: 1_000, signal: never }).then(() => {
      isOver = true;
    });
    await clock.advance(999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    await wait;
  });

  test('a signal ends it with its reason and leaves no timer; a closed listener is forgotten', async () => {
    const clock = createFakeClock();
    const wakeups = createWakeups(clock);
    const listener = wakeups.listen('a');
    const stop = new AbortController();
    const wait = listener.next({ pollMs: 1_000, signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(wait).rejects.toThrow('enough');
    await expect(listener.next({ pollMs: 1_000, signal: stop.signal })).rejects.toThrow('enough');
    listener.close();
    expect([clock.sleeping(), wakeups.listening()]).toEqual([0, 0]);
  });
});
