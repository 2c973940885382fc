import { expect, test } from 'vitest';
import { createFakeClock } from '../testing/fake-clock.ts';
import { Patience } from './patience.ts';

test('each wait falls due at its own time, in order, and one that has ended never does', async () => {
  const clock = createFakeClock();
  const patience = new Patience(clock, 1_000);
  const late: string[] = [];
  const begin = (name: string): (() => void) => patience.begin(() => late.push(`${name} ${clock.monotonicMs()}`));
  const endFirst = begin('first');
  await clock.advance(400);
  begin('second');
  const endThird = begin('third');
  await clock.advance(100);
  begin('fourth');
  expect(clock.sleeping()).toBe(1);
  endFirst();
  endThird();
  await clock.advance(2_000);
  expect(late).toEqual(['second 1400', 'fourth 1500']);
  expect(clock.sleeping()).toBe(0);
});

test('one timer is used again while it runs, and ends when it finds nobody waiting', async () => {
  const clock = createFakeClock();
  const patience = new Patience(clock, 1_000);
  const late: number[] = [];
  for (const _ of [1, 2]) {
    patience.begin(() => late.push(0))();
    await clock.advance(0);
    expect(clock.sleeping()).toBe(1);
  }
  await clock.advance(700);
  patience.begin(() => late.push(clock.monotonicMs()));
  await clock.advance(999);
  expect(late).toEqual([]);
  await clock.advance(1);
  expect(late).toEqual([1_700]);
  expect(clock.sleeping()).toBe(0);
});

test('a stop ends the timer', async () => {
  const clock = createFakeClock();
  const patience = new Patience(clock, 1_000);
  patience.stop();
  patience.begin(() => {});
  patience.stop();
  await clock.advance(0);
  expect(clock.sleeping()).toBe(0);
});
