import { describe, expect, test } from 'vitest';
import { instant } from '../base/clock.ts';
import type { StoredEvent } from '../model/event.ts';
import type { Seq } from '../model/ids.ts';
import { EventRing } from './event-ring.ts';

const event = (seq: number): StoredEvent => ({ kind: 'timer-fired', key: `k${seq}`, seq: seq as Seq, at: instant(0) });
const events = (...seqs: readonly number[]): readonly StoredEvent[] => seqs.map(event);
const wide = { eventsMax: 100, bytesMax: 1 << 20 };
const seqs = (taken: readonly StoredEvent[] | undefined): readonly number[] | undefined => taken?.map(({ seq }) => seq);

describe('a ring', () => {
  test('serves whoever its events continue, and nobody else', () => {
    const ring = new EventRing();
    ring.add(events(3, 4, 5), wide);
    expect(seqs(ring.take(2 as Seq, wide))).toEqual([3, 4, 5]);
    expect(seqs(ring.take(4 as Seq, wide))).toEqual([5]);
    expect(ring.take(1 as Seq, wide)).toBeUndefined();
    expect(ring.take(5 as Seq, wide)).toBeUndefined();
  });

  test('drops what it has, and begins anew after a hole', () => {
    const ring = new EventRing();
    ring.add(events(1, 2), wide);
    ring.add(events(2, 3), wide);
    expect(seqs(ring.take(0 as Seq, wide))).toEqual([1, 2, 3]);
    ring.add(events(5, 6), wide);
    ring.add(events(4), wide);
    expect(ring.take(2 as Seq, wide)).toBeUndefined();
    expect(seqs(ring.take(4 as Seq, wide))).toEqual([5, 6]);
    expect(ring.newest).toBe(6);
  });

  test('keeps the newest within its bounds, and counts what it gives', () => {
    const ring = new EventRing();
    for (let seq = 1; seq <= 1_000; seq += 1) ring.add(events(seq), { ...wide, eventsMax: 10 });
    expect(seqs(ring.take(990 as Seq, wide))).toEqual([991, 992, 993, 994, 995, 996, 997, 998, 999, 1_000]);
    expect(ring.take(989 as Seq, wide)).toBeUndefined();
    expect(seqs(ring.take(990 as Seq, { ...wide, eventsMax: 3 }))).toEqual([991, 992, 993]);
    expect(seqs(ring.take(990 as Seq, { ...wide, bytesMax: 1 }))).toEqual([991]);
    expect(ring.bytes).toBe(1_280);
  });

  test('holds nothing of an event that is larger than it may be', () => {
    const ring = new EventRing();
    ring.add(events(1), { ...wide, bytesMax: 10 });
    expect(ring.bytes).toBe(0);
    expect(ring.take(0 as Seq, wide)).toBeUndefined();
    ring.add(events(2), wide);
    expect(seqs(ring.take(1 as Seq, wide))).toEqual([2]);
  });
});
