import { expect, test } from 'vitest';
import { Probe } from './probe.ts';

test('an unarmed probe keeps nothing and cannot be waited for', () => {
  const probe = new Probe<number>();
  probe.hit(1);
  expect(() => probe.next()).toThrow('arm() the probe');
});

test('an armed probe hands on every hit once, in order, whether it was waited for or not', async () => {
  const probe = new Probe<number>();
  probe.arm();
  const early = probe.next();
  probe.hit(1);
  probe.hit(2);
  probe.hit(3);
  expect([await early, await probe.next(), await probe.next()]).toEqual([1, 2, 3]);
});

test('two that wait get one hit each', async () => {
  const probe = new Probe<string>();
  probe.arm();
  const waits = [probe.next(), probe.next()];
  probe.hit('a');
  probe.hit('b');
  expect(await Promise.all(waits)).toEqual(['a', 'b']);
});

test('arming twice keeps who waits', async () => {
  const probe = new Probe<number>();
  probe.arm();
  const wait = probe.next();
  probe.arm();
  probe.hit(5);
  expect(await wait).toBe(5);
});
