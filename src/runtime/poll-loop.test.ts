import { describe, expect, test } from 'vitest';
import type { Seq } from '../model/ids.ts';
import { anonymousCaller } from '../model/scope.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { countingStore } from '../testing/intercepted-store.ts';
import { chunk, collect, createNode, never } from '../testing/runtime-node.ts';

/** Two processes on one store that tell each other nothing. */
async function createPair(config = {}) {
  const clock = createFakeClock();
  const { store, calls } = countingStore(await openMemoryStore({ clock }));
  const a = await createNode({ clock, store, config });
  const b = await createNode({ clock, store, seed: 2, slots: 0, config });
  for (const node of [a, b]) await node.start();
  await clock.advance(1);
  return { clock, calls, a, b };
}

describe('the poll', () => {
  test('brings a follower what another process writes, in order, within an interval', async () => {
    const { clock, a, b } = await createPair();
    const { taskNo } = await a.sendTask('hello');
    const feed = collect(b.runtime.follow(taskNo, { after: 0 as Seq, signal: never }));
    const grant = await a.engine.startedRun(1);
    for (let count = 0; count < 500; count += 1) {
      await a.emit(grant, chunk(grant, `${count}`, { append: count > 0 }));
      if (count % 50 === 0) await clock.advance(300);
    }
    await a.settle(grant, { kind: 'succeeded' });
    await clock.advance('1s');
    const { events } = await feed;
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 507 }, (_item, at) => at + 1));
    for (const node of [a, b]) await node.stop();
  });

  test('is one read for any number of followers and runs, and none while nobody waits', async () => {
    const { clock, calls, a } = await createPair();
    const sent = [];
    for (let count = 0; count < 10; count += 1) sent.push(await a.sendTask(`${count}`));
    const stop = new AbortController();
    const feeds = sent.flatMap(({ taskNo }) =>
      Array.from({ length: 5 }, () => collect(a.runtime.follow(taskNo, { after: 5 as Seq, signal: stop.signal }))),
    );
    await clock.advance(0);
    calls.clear();
    await clock.advance('10s');
    expect(calls.get('readHeads')).toBe(10);
    expect([calls.get('readEvents'), calls.get('readView')]).toEqual([undefined, undefined]);
    stop.abort();
    await Promise.all(feeds);
    await a.stop();
  });

  test('tells a run of the cancel that another process took, though its own appends went past it', async () => {
    const { clock, a, b } = await createPair({ sweepMs: 600_000 });
    const { taskNo, task } = await a.sendTask('hello');
    const grant = await a.engine.startedRun(1);
    const wait = b.runtime.cancel({ caller: anonymousCaller, agent: b.agent, taskId: task.id, signal: never });
    await clock.advance(0);
    const [event] = await a.emit(grant, chunk(grant, 'a', { append: false }));
    a.engine.setHead(taskNo, event?.seq as Seq);
    await clock.advance('1s');
    expect(a.engine.canceled).toEqual([taskNo]);
    await a.settle(grant, { kind: 'succeeded' });
    await clock.advance('1s');
    await wait;
    for (const node of [a, b]) await node.stop();
  });

  test('tells a run whose task another process has ended', async () => {
    const times = { cancelGraceMs: 2_000, idleMaxMs: 10_000, totalMaxMs: 0, interruptedMaxMs: 0, queuedMaxMs: 0 };
    const { clock, a, b } = await createPair({ times, sweepMs: 600_000 });
    const { taskNo } = await a.sendTask('hello');
    await clock.advance('12s');
    expect(a.engine.canceled).toEqual([]);
    await b.system.sweeper.sweep(never);
    await clock.advance('3s');
    expect(a.engine.canceled).toEqual([taskNo]);
    for (const node of [a, b]) await node.stop();
  });

  test('leaves a run alone whose task only got another message', async () => {
    const { clock, calls, a } = await createPair();
    const { taskNo } = await a.sendTask('hello');
    const view = await a.store.readView(taskNo);
    await a.store.command(taskNo, view!.task.headSeq, { events: [{ kind: 'timer-fired', key: 'k' }] });
    calls.clear();
    await clock.advance('10s');
    expect(a.engine.canceled).toEqual([]);
    expect(calls.get('readView')).toBe(1);
    await a.stop();
  });

  test('outlives a store that is away', async () => {
    const { clock, a, b } = await createPair();
    const { taskNo } = await a.sendTask('hello');
    const feed = collect(b.runtime.follow(taskNo, { after: 5 as Seq, signal: never }));
    await clock.advance(0);
    const { readHeads } = a.store;
    const store = a.store as { readHeads: typeof readHeads };
    store.readHeads = () => Promise.reject(new Error('away'));
    await clock.advance('3s');
    store.readHeads = readHeads;
    await a.settle(await a.engine.startedRun(1), { kind: 'succeeded' });
    await clock.advance('3s');
    expect((await feed).events).toHaveLength(2);
    for (const node of [a, b]) await node.stop();
  });
});
