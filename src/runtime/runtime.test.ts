import { describe, expect, test } from 'vitest';
import { defineAgent } from '../agent/define-agent.ts';
import type { Seq } from '../model/ids.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { countingStore } from '../testing/intercepted-store.ts';
import { collect, createNode, later, never } from '../testing/runtime-node.ts';

describe('a runtime', () => {
  test('starts once however often, and stops once', async () => {
    const clock = createFakeClock();
    const { store, calls } = countingStore(await openMemoryStore({ clock }));
    const node = await createNode({ clock, store });
    await node.stop();
    await Promise.all([node.start(), node.start()]);
    expect(calls.get('registerWorker')).toBe(1);
    await Promise.all([node.stop(), node.stop()]);
    await node.stop();
    expect(calls.get('retireWorker')).toBe(1);
    expect(clock.sleeping()).toBe(0);
    await expect(node.start()).rejects.toThrow('stays stopped');
  });

  test('that is stopped while it starts holds nothing', async () => {
    const node = await createNode({ config: { ownsStore: true } });
    const start = node.start();
    await Promise.all([start, node.stop()]);
    expect(node.clock.sleeping()).toBe(0);
  });

  test('whose store is away does not start, and says why', async () => {
    const store = await openMemoryStore();
    store.registerWorker = () => Promise.reject(new Error('away'));
    const node = await createNode({ store });
    await expect(node.start()).rejects.toThrow('away');
    await node.stop();
    expect(node.clock.sleeping()).toBe(0);
  });

  test('that drains takes messages and begins none of them, and lets runs end', async () => {
    const node = await createNode();
    await node.start();
    const running = await node.sendTask('a');
    const grant = await node.engine.startedRun(1);
    let released: (() => void) | undefined;
    node.engine.drain = () => new Promise((resolve) => (released = resolve));
    const feed = collect(node.runtime.follow(running.taskNo, { after: 5 as Seq, signal: never }));
    const stopped = node.system.service.stop(later(node.clock));
    await node.clock.advance(0);
    expect(node.runtime.draining).toBe(true);
    const late = await node.sendTask('b');
    expect(late.task.state).toBe('submitted');
    await node.clock.advance('40s');
    expect(node.engine.losses).toBe(0);
    await node.settle(grant, { kind: 'succeeded' });
    expect((await feed).events.at(-1)).toMatchObject({ state: 'completed' });
    released?.();
    await stopped;
    const next = await createNode({ store: node.store, clock: node.clock, seed: 2 });
    await next.start();
    await node.clock.advance(1);
    expect(next.engine.started.map(({ grant: taken }) => taken.taskNo)).toEqual([late.taskNo]);
    await next.stop();
  });

  test('knows the log it serves', async () => {
    const store = await openMemoryStore();
    const node = await createNode({ store });
    expect(node.runtime.incarnation).toBe((await store.installation()).incarnation);
  });
});

describe('with the lease engine', () => {
  test('a blocking send costs two commits and no read of the log', async () => {
    const clock = createFakeClock();
    const { store, calls } = countingStore(await openMemoryStore({ clock }));
    const node = await createNode({ clock, store, engine: 'lease' });
    await node.start();
    await clock.advance(1);
    calls.clear();
    const sent = await node.sendTask('hello');
    await node.runtime.awaitTurn({ ...sent, after: sent.messageSeq }, never);
    expect((await store.readView(sent.taskNo))?.task.state).toBe('completed');
    const writes = ['scoped.submit', 'append', 'settle', 'scoped.command', 'command'];
    const commits = writes.reduce((sum, name) => sum + (calls.get(name) ?? 0), 0);
    expect(commits).toBe(2);
    expect([calls.get('readEvents'), calls.get('readTurn')]).toEqual([undefined, undefined]);
    await node.stop();
  });

  test.each(['on', 'off'] as const)('a task goes its way with wakeups %s', async (wakeups) => {
    const agent = defineAgent({
      name: 'echo',
      description: '-',
      run: async (turn) => `Hello ${await turn.ask('Who?')}`,
    });
    const node = await createNode({ engine: 'lease', wakeups, agents: [agent] });
    await node.start();
    const first = await node.sendTask('hello');
    const feed = collect(node.runtime.follow(first.taskNo, { after: 0 as Seq, signal: never }));
    while ((await node.store.readView(first.taskNo))?.task.state !== 'input-required') await node.clock.advance(100);
    const answer = await node.sendTask({
      messageId: 'm2' as never,
      taskId: first.task.id,
      parts: [{ kind: 'text', text: 'Ann' }],
    });
    expect(answer.task.state).toBe('working');
    while ((await node.store.readView(first.taskNo))?.task.state !== 'completed') await node.clock.advance(100);
    await node.clock.advance('1s');
    const { events } = await feed;
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, at) => at + 1));
    expect(events.at(-1)).toMatchObject({ state: 'completed' });
    await node.stop();
  });
});
