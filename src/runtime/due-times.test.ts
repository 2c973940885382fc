import { expect, test } from 'vitest';
import { instant } from '../base/clock.ts';
import { DueTimes } from './due-times.ts';

test('due times stay in order, once each, and the nearest few', () => {
  const due = new DueTimes(3);
  expect(due.add(instant(50))).toBe(true);
  expect(due.add(instant(70))).toBe(false);
  expect(due.add(instant(20))).toBe(true);
  expect(due.add(instant(20))).toBe(false);
  due.add(instant(60));
  expect(due.nearest).toBe(20);
  due.passed(instant(20));
  expect(due.nearest).toBe(50);
  due.passed(instant(60));
  expect(due.nearest).toBeUndefined();
});
