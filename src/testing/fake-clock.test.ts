import { expect, test } from 'vitest';
import { createFakeClock } from './fake-clock.ts';

const never = new AbortController().signal;

test('time stands still until it is moved', async () => {
  const clock = createFakeClock(1_000);
  expect([clock.now(), clock.monotonicMs()]).toEqual([1_000, 0]);
  await clock.advance('2s');
  expect([clock.now(), clock.monotonicMs()]).toEqual([3_000, 2_000]);
  await clock.advance(5);
  expect(clock.now()).toBe(3_005);
});

test('sleeps wake in the order of their times, at their times', async () => {
  const clock = createFakeClock(0);
  const woken: [string, number][] = [];
  const sleep = (name: string, ms: number) =>
    clock.sleep(ms, never).then(() => {
      woken.push([name, clock.now()]);
    });
  const all = [sleep('late', 300), sleep('early', 100), sleep('early too', 100), sleep('tomorrow', 86_400_000)];
  await clock.advance('1s');
  expect(woken).toEqual([
    ['early', 100],
    ['early too', 100],
    ['late', 300],
  ]);
  expect(clock.sleeping()).toBe(1);
  await clock.advance('1d');
  await Promise.all(all);
  expect(woken.at(-1)).toEqual(['tomorrow', 86_400_000]);
});

test('a loop that sleeps again is woken again within one advance', async () => {
  const clock = createFakeClock(0);
  const stop = new AbortController();
  let rounds = 0;
  const loop = (async () => {
    for (;;) {
      await clock.sleep(1_000, stop.signal);
      rounds += 1;
    }
  })().catch((reason) => reason);
  await clock.advance('1m');
  expect(rounds).toBe(60);
  stop.abort('over');
  expect(await loop).toBe('over');
  expect(clock.sleeping()).toBe(0);
});

test('setting the wall time back wakes nobody and leaves the steady count', async () => {
  const clock = createFakeClock(10_000);
  let awake = false;
  const sleep = clock.sleep(50, never).then(() => {
    awake = true;
  });
  clock.set(5_000);
  expect([clock.now(), clock.monotonicMs(), awake]).toEqual([5_000, 0, false]);
  await clock.advance(50);
  await sleep;
  expect(clock.now()).toBe(5_050);
});

test('an aborted sleep rejects with its reason, before and during', async () => {
  const clock = createFakeClock(0);
  const controller = new AbortController();
  const during = clock.sleep(10, controller.signal);
  controller.abort(new Error('left'));
  await expect(during).rejects.toThrow('left');
  await expect(clock.sleep(10, controller.signal)).rejects.toThrow('left');
});

test('a test can wait until something sleeps', async () => {
  const clock = createFakeClock(0);
  const noticed = clock.untilSleeping(2);
  const sleeps = [clock.sleep(1, never), clock.sleep(2, never)];
  await noticed;
  await clock.advance(2);
  await Promise.all(sleeps);
});
