import { describe, expect, test } from 'vitest';
import { limits } from '../base/limits.ts';
import { seededRandom } from '../base/random.ts';
import type { Seq } from '../model/ids.ts';
import { anonymousCaller } from '../model/scope.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { countingStore, interceptStore } from '../testing/intercepted-store.ts';
import { chunk, collect, createNode, never, readLog } from '../testing/runtime-node.ts';
import type { FeedItem } from './ports.ts';

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
};
const seqs = (events: readonly { readonly seq: Seq }[]): readonly number[] => events.map(({ seq }) => seq);
const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_item, index) => from + index);

describe('a follower', () => {
  test('of a message just taken reads no store at all', async () => {
    const { store, calls } = countingStore(await openMemoryStore({ clock: createFakeClock() }));
    const node = await createNode({ store });
    await node.start();
    const sent = await node.sendTask('hello');
    const feed = collect(node.runtime.follow(sent.taskNo, { after: sent.first?.task.headSeq as Seq, signal: never }));
    const grant = await node.engine.startedRun(1);
    await node.emit(grant, chunk(grant, 'a', { append: false }));
    await turns(3);
    await node.emit(grant, chunk(grant, 'b'));
    await node.settle(grant, { kind: 'succeeded' });
    const { events, lastWord } = await feed;
    expect(seqs(events)).toEqual(range(4, 9));
    expect(lastWord).toBeUndefined();
    expect(calls.get('readEvents')).toBeUndefined();
    expect(node.system.hub.counts().followers).toBe(0);
  });

  test('joins anywhere, also after the end, and ends with the terminal status', async () => {
    const node = await createNode();
    await node.start();
    const { taskNo } = await node.sendTask('hello');
    const grant = await node.engine.startedRun(1);
    const early = collect(node.runtime.follow(taskNo, { after: 0 as Seq, signal: never }));
    await node.emit(grant, chunk(grant, 'a', { append: false }), chunk(grant, 'b'));
    const middle = collect(node.runtime.follow(taskNo, { after: 6 as Seq, signal: never }));
    await node.settle(grant, { kind: 'succeeded' });
    const head = (await node.log(taskNo)).length;
    const late = collect(node.runtime.follow(taskNo, { after: 0 as Seq, signal: never }));
    const atTheEnd = collect(node.runtime.follow(taskNo, { after: head as Seq, signal: never }));
    expect(seqs((await early).events)).toEqual(range(1, head));
    expect(seqs((await middle).events)).toEqual(range(7, head));
    expect(seqs((await late).events)).toEqual(range(1, head));
    expect((await atTheEnd).events).toEqual([]);
    expect((await early).events.at(-1)).toMatchObject({ kind: 'status-changed', state: 'completed' });
  });

  test('goes on from behind an event that is a page of its own', async () => {
    const store = await openMemoryStore({ clock: createFakeClock() });
    const node = await createNode({ store });
    await node.start();
    const { taskNo } = await node.sendTask('hello');
    const grant = await node.engine.startedRun(1);
    const large = 'x'.repeat(limits.readBytesMax);
    const small = Array.from({ length: 30 }, () => chunk(grant, 'small'));
    await node.emit(grant, chunk(grant, large, { append: false }), chunk(grant, large), ...small);
    const other = await createNode({ store });
    const rests = range(4, 9).map((after) =>
      collect(other.runtime.follow(taskNo, { after: after as Seq, signal: never })),
    );
    await turns(10);
    await node.settle(grant, { kind: 'succeeded' });
    const head = (await node.log(taskNo)).length;
    other.system.hub.hint(taskNo, head as Seq);
    for (const [index, rest] of rests.entries()) {
      expect(seqs((await rest).events), `after ${index + 4}`).toEqual(range(index + 5, head));
    }
  });

  test('that aborts leaves no listener and no timer', async () => {
    const node = await createNode();
    const { taskNo } = await node.sendTask('hello');
    const stop = new AbortController();
    const feed = collect(node.runtime.follow(taskNo, { after: 3 as Seq, signal: stop.signal }));
    await turns(5);
    expect(node.system.hub.counts().followers).toBe(1);
    stop.abort();
    expect(await feed).toEqual({ events: [], lastWord: undefined });
    expect(node.system.hub.counts().followers).toBe(0);
    expect(node.clock.sleeping()).toBe(0);
    const aborted = await collect(node.runtime.follow(taskNo, { after: 0 as Seq, signal: stop.signal }));
    expect(aborted.events).toEqual([]);
  });

  test('of a task that is not there, or is deleted meanwhile, is told so', async () => {
    const node = await createNode();
    const { taskNo } = await node.sendTask('hello');
    const absent = await collect(node.runtime.follow(999 as never, { after: 0 as Seq, signal: never }));
    expect(absent).toEqual({ events: [], lastWord: 'gone' });
    const feed = collect(node.runtime.follow(taskNo, { after: 0 as Seq, signal: never }));
    await turns(5);
    node.system.hub.publishGone(taskNo);
    expect((await feed).lastWord).toBe('gone');
  });

  test('is told to go away when the server stops, after what it can still be given', async () => {
    const node = await createNode({ engine: 'scripted' });
    await node.start();
    const { taskNo } = await node.sendTask('hello');
    const feed = collect(node.runtime.follow(taskNo, { after: 0 as Seq, signal: never }));
    await turns(5);
    await node.stop();
    const { events, lastWord } = await feed;
    expect([seqs(events), lastWord]).toEqual([range(1, 5), 'going-away']);
    const after = await collect(node.runtime.follow(taskNo, { after: 5 as Seq, signal: never }));
    expect(after.lastWord).toBe('going-away');
    expect(node.clock.sleeping()).toBe(0);
  });

  test('whose read fails throws, and may come back', async () => {
    const inner = await openMemoryStore({ clock: createFakeClock() });
    let isBroken = false;
    const store = interceptStore(inner, (name, call) => {
      if (isBroken && name === 'readEvents') return Promise.reject(new Error('away'));
      return call();
    });
    const node = await createNode({ store });
    const { taskNo } = await node.sendTask('hello');
    isBroken = true;
    const from = { after: 5 as Seq, signal: never };
    await expect(collect(node.runtime.follow(taskNo, from))).rejects.toThrow('away');
    expect(node.system.hub.counts().followers).toBe(0);
  });
});

describe('nothing falls into the gap between a snapshot and its stream', () => {
  const LOOPS = 250;
  test.each(['on', 'off'] as const)('with jitter on every call, wakeups %s', async (wakeups) => {
    for (let seed = 1; seed <= LOOPS; seed += 1) {
      const random = seededRandom(seed);
      const jitter = (): Promise<void> => turns(Math.floor(random.fraction() * 4));
      const inner = await openMemoryStore({ clock: createFakeClock() });
      const store = interceptStore(inner, async (_name, call) => {
        await jitter();
        const result = await call();
        await jitter();
        return result;
      });
      const node = await createNode({ store, wakeups, seed });
      const { taskNo, task } = await node.sendTask('hello');
      const grant = await grantFor(node, inner);
      const produce = async (): Promise<void> => {
        for (let count = 0; count < 5; count += 1) {
          await jitter();
          await node.emit(grant, chunk(grant, `${count}`, { append: count > 0 }));
        }
        await node.settle(grant, { kind: 'succeeded' });
      };
      const observe = async (): Promise<readonly number[]> => {
        await jitter();
        const place = {
          caller: anonymousCaller,
          agent: node.agent,
          taskId: task.id,
        };
        const snapshot = await node.runtime.snapshot(place, { artifacts: true });
        const after = snapshot?.task.headSeq as Seq;
        const feed = collect(node.runtime.follow(taskNo, { after, signal: never }));
        const { events } = await (wakeups === 'on' ? feed : withPolls(node, feed));
        return [...range(1, after), ...seqs(events)];
      };
      const [seen] = await Promise.all([observe(), produce()]);
      const log = await readLog(inner, taskNo);
      expect(seen, `seed ${seed}`).toEqual(range(1, log.length));
      await node.stop();
    }
  });
});

type Node = Awaited<ReturnType<typeof createNode>>;

/** A run of the task that was just sent, whether or not the submit could grant it. */
async function grantFor(node: Node, store: Awaited<ReturnType<typeof openMemoryStore>>) {
  const workerNo = await store.registerWorker({ workerId: 'w' as never, agents: [], leaseMs: 1e9 });
  const [grant] = await store.claim({ workerNo, workerId: 'w' as never, agents: ['echo' as never], runsMax: 1 });
  if (grant === undefined) throw new Error('no run was queued');
  node.system.hub.publish(grant.taskNo, grant.events);
  return grant;
}

async function withPolls<T>(node: Node, work: Promise<T>): Promise<T> {
  let isOver = false;
  const done = work.finally(() => {
    isOver = true;
  });
  await node.start();
  while (!isOver) await node.clock.advance(node.config.pollMs);
  return await done;
}

describe('many events', () => {
  test('10,000 in a tight loop have places without a hole, and a resume gives exactly the rest', async () => {
    const node = await createNode();
    await node.start();
    const { taskNo } = await node.sendTask('hello');
    const grant = await node.engine.startedRun(1);
    const feed = collect(node.runtime.follow(taskNo, { after: 0 as Seq, signal: never }));
    for (let batch = 0; batch < 100; batch += 1) {
      const first = batch === 0;
      const chunks = range(1, 100).map((at) => chunk(grant, `${at}`, { append: !first || at > 1 }));
      await node.emit(grant, ...chunks);
    }
    await node.settle(grant, { kind: 'succeeded' });
    const { events } = await feed;
    expect(seqs(events)).toEqual(range(1, events.length));
    expect(events.length).toBe(10_007);
    const random = seededRandom(8);
    for (let count = 0; count < 20; count += 1) {
      const after = Math.floor(random.fraction() * events.length) as Seq;
      const resumed = await collect(node.runtime.follow(taskNo, { after, signal: never }));
      expect(seqs(resumed.events), `seed 8, after ${after}`).toEqual(range(after + 1, events.length));
    }
  });

  test('two followers of one task see the same, whichever of them brought the message', async () => {
    const node = await createNode();
    await node.start();
    const { taskNo, task } = await node.sendTask('hello');
    const first = collect(node.runtime.follow(taskNo, { after: 0 as Seq, signal: never }));
    const grant = await node.engine.startedRun(1);
    await node.settle(grant, {
      kind: 'interrupted',
      state: 'input-required',
      message: { messageId: 'q' as never, role: 'agent', parts: [{ kind: 'text', text: 'Which?' }] },
    });
    const answered = await node.sendTask({ taskId: task.id });
    const second = collect(node.runtime.follow(taskNo, { after: answered.messageSeq, signal: never }));
    const next = await node.engine.startedRun(2);
    await node.emit(next, chunk(next, 'a', { append: false }));
    await node.settle(next, { kind: 'succeeded' });
    const whole = (await first).events;
    expect(seqs(whole)).toEqual(range(1, whole.length));
    expect((await second).events).toEqual(whole.slice(answered.messageSeq));
  });
});

describe('20 followers that never read', () => {
  const CHUNK = 'x'.repeat(4_096);
  const CHUNKS = 2_000;

  async function produce(followers: number) {
    const node = await createNode();
    await node.start();
    const { taskNo } = await node.sendTask('hello');
    const grant = await node.engine.startedRun(1);
    const stop = new AbortController();
    const readers: AsyncIterator<readonly FeedItem[]>[] = [];
    for (let count = 0; count < followers; count += 1) {
      const reader = node.runtime.follow(taskNo, { after: 0 as Seq, signal: stop.signal })[Symbol.asyncIterator]();
      await reader.next();
      readers.push(reader);
    }
    let bytesAtMost = 0;
    for (let count = 0; count < CHUNKS; count += 1) {
      await node.emit(grant, chunk(grant, CHUNK, { append: count > 0 }));
      bytesAtMost = Math.max(bytesAtMost, node.system.hub.counts().bytes);
    }
    return { node, grant, readers, stop, bytesAtMost };
  }

  test('cost the bytes of one ring, and find every event when they come back', async () => {
    const { node, grant, readers, stop, bytesAtMost } = await produce(20);
    expect(bytesAtMost).toBeLessThanOrEqual(limits.ringBytesMax);
    await node.settle(grant, { kind: 'succeeded' });
    const seen: number[] = [];
    const reader = readers[0] as AsyncIterator<readonly FeedItem[]>;
    for (let next = await reader.next(); next.done !== true; next = await reader.next())
      for (const item of next.value) if (item.kind === 'event') seen.push(item.event.seq);
    expect(seen).toEqual(range(6, CHUNKS + 7));
    stop.abort();
    for (const other of readers) expect((await other.next()).done).toBe(true);
    expect(node.system.hub.counts().followers).toBe(0);
  });

  test('are woken for nothing: the producer does no work for them', async () => {
    const { node, readers, stop } = await produce(20);
    expect(node.system.hub.waiting()).toEqual([]);
    stop.abort();
    for (const reader of readers) await reader.return?.();
    expect(node.system.hub.counts().followers).toBe(0);
  });
});
