import { describe, expect, test } from 'vitest';
import { instant } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { NewEvent, StoredEvent } from '../model/event.ts';
import type { Seq, TaskNo, TurnNo } from '../model/ids.ts';
import { never } from '../testing/runtime-node.ts';
import { createHub } from './hub.ts';

const bounds = { eventsMax: 100, bytesMax: 1 << 20 };
const no = (value: number): TaskNo => value as TaskNo;
const at = (seq: number): Seq => seq as Seq;
const place = (event: NewEvent, seq: number): StoredEvent => ({ ...event, seq: at(seq), at: instant(0) });
const created = (): readonly StoredEvent[] => [place({ kind: 'task-created' }, 1)];
const chunkOf = (bytes: number, seq: number): StoredEvent =>
  place(
    {
      kind: 'artifact-updated',
      artifactId: 'a' as never,
      origin: 'output',
      turnNo: 1 as TurnNo,
      parts: [{ kind: 'text', text: 'x'.repeat(bytes) }],
      append: true,
      lastChunk: false,
    },
    seq,
  );

describe('a hub', () => {
  test('keeps nothing for tasks that nobody sent or follows from here', () => {
    const hub = createHub();
    hub.publish(no(1), [chunkOf(10, 7)]);
    expect(hub.counts()).toEqual({ followers: 0, rings: 0, bytes: 0 });
  });

  test('has the ring of a fresh message ready, and forgets the oldest of those that nobody follows', () => {
    const hub = createHub();
    for (let task = 1; task <= limits.idleRingsMax + 100; task += 1) hub.publish(no(task), created());
    expect(hub.counts().rings).toBe(limits.idleRingsMax);
    const fresh = hub.attach(no(limits.idleRingsMax + 100));
    expect(fresh.take(at(0), bounds)).toHaveLength(1);
    const old = hub.attach(no(1));
    expect(old.take(at(0), bounds)).toBeUndefined();
    for (const follower of [fresh, old]) follower.detach();
    expect(hub.counts().followers).toBe(0);
  });

  test('holds no more bytes than all rings may have', () => {
    const hub = createHub();
    const chunks = 40;
    const tasks = Math.ceil(limits.ringsBytesMax / limits.ringBytesMax) * 2;
    for (let task = 1; task <= tasks; task += 1) hub.attach(no(task));
    for (let count = 1; count <= chunks; count += 1)
      for (let task = 1; task <= tasks; task += 1) hub.publish(no(task), [chunkOf(limits.ringBytesMax / 20, count)]);
    expect(hub.counts().bytes).toBeLessThanOrEqual(limits.ringsBytesMax + limits.ringBytesMax);
    expect(hub.counts().bytes).toBeGreaterThan(limits.ringsBytesMax / 2);
  });

  test('gives a large event as one object to all who are at it, though no ring has room for it', () => {
    const hub = createHub();
    const [a, b] = [hub.attach(no(1)), hub.attach(no(1))];
    const large = chunkOf(limits.ringBytesMax * 2, 1);
    hub.publish(no(1), [large]);
    expect([a.take(at(0), bounds), a.inHand(at(1)), b.inHand(at(1))]).toEqual([undefined, large, large]);
    expect(a.inHand(at(1))).toBe(b.inHand(at(1)));
    const read = chunkOf(limits.ringBytesMax * 2, 2);
    expect(a.share([read, chunkOf(10, 3)])[0]).toBe(read);
    expect(b.share([chunkOf(limits.ringBytesMax * 2, 2)])[0]).toBe(read);
    expect(b.inHand(at(3))).toBeUndefined();
    for (const follower of [a, b]) follower.detach();
  });

  test('bounds what idle rings hold together', () => {
    const hub = createHub();
    for (let task = 1; task <= 100; task += 1) {
      hub.publish(no(task), created());
      hub.publish(no(task), [chunkOf(limits.ringBytesMax / 2, 2)]);
    }
    expect(hub.counts().bytes).toBeLessThanOrEqual(limits.idleRingsBytesMax);
  });

  test('wakes a follower once there is more than it has, and asks the poll for those who wait alone', async () => {
    const hub = createHub();
    hub.publish(no(1), created());
    const one = hub.attach(no(1));
    const two = hub.attach(no(1));
    await one.wait(at(0), never);
    let woken = 0;
    const waits = [one.wait(at(1), never), two.wait(at(1), never)].map((wait) => wait.then(() => (woken += 1)));
    expect(hub.waiting()).toEqual([{ taskNo: 1, seq: 1 }]);
    hub.hint(no(1), at(1));
    await Promise.resolve();
    expect(woken).toBe(0);
    hub.hint(no(1), at(2));
    await Promise.all(waits);
    expect(hub.waiting()).toEqual([]);
    expect(one.headSeq).toBe(2);
    expect(one.take(at(1), bounds)).toBeUndefined();
  });

  test('tells everyone when it closes, also those who come later', async () => {
    const hub = createHub();
    const follower = hub.attach(no(1));
    const wait = follower.wait(at(0), never);
    hub.close();
    await wait;
    expect(follower.state).toBe('going-away');
    expect(hub.attach(no(2)).state).toBe('going-away');
  });

  test('lets an observer see every commit, whoever follows', () => {
    const seen: string[] = [];
    const hub = createHub({ observe: (events) => seen.push(...events.map(({ kind }) => kind)) });
    hub.publish(no(1), [place({ kind: 'timer-fired', key: 'k' }, 5)]);
    expect(seen).toEqual(['timer-fired']);
  });
});
