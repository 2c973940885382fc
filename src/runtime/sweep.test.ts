import { describe, expect, test } from 'vitest';
import type { Message } from '../model/message.ts';
import { createCluster, kill, kindsAfter, shortTimes } from '../testing/replicas.ts';
import { type RuntimeNode, textMessage } from '../testing/runtime-node.ts';

const question: Message = textMessage('q1', 'Which?', { role: 'agent' });

describe('deadlines', () => {
  test('a long silence under a kept lease is no death; ten sweeps later the run is well', async () => {
    const { clock, nodes } = await createCluster({ config: { times: { ...shortTimes, idleMaxMs: 3_600_000 } } });
    const [node] = nodes as [RuntimeNode];
    await node.start();
    const { taskNo } = await node.sendTask('a');
    await clock.advance('5m');
    expect(await kindsAfter(node, taskNo, 5)).toEqual([]);
    await node.settle(await node.engine.startedRun(1), { kind: 'succeeded' });
    await node.stop();
  });

  test.each([
    ['idle', { idleMaxMs: 60_000 }, 'The task timed out: its agent gave no sign of life for too long.'],
    ['total', { idleMaxMs: 0, totalMaxMs: 60_000 }, 'The task timed out: it took longer than this server allows.'],
  ])('%s: the task fails once, its run is told, and what comes late is refused', async (_kind, times, text) => {
    const { clock, nodes } = await createCluster({ config: { times: { ...shortTimes, ...times } } });
    const [node] = nodes as [RuntimeNode];
    await node.start();
    const { taskNo, task } = await node.sendTask('a');
    const grant = await node.engine.startedRun(1);
    await clock.advance('59s');
    expect(await kindsAfter(node, taskNo, 5)).toEqual([]);
    await clock.advance('14s');
    const [, failed] = (await node.log(taskNo)).slice(5);
    expect(failed).toMatchObject({ state: 'failed', message: { role: 'agent', taskId: task.id, parts: [{ text }] } });
    expect(new Set(node.engine.canceled)).toEqual(new Set([taskNo]));
    await expect(node.settle(grant, { kind: 'succeeded' })).rejects.toThrow();
    const next = await node.sendTask({ contextId: task.contextId });
    expect((await node.store.readView(next.taskNo))?.task.state).toBe('working');
    await node.stop();
  });

  test('queued: nobody could take it; interrupted: nobody answered', async () => {
    const times = { ...shortTimes, queuedMaxMs: 10_000, interruptedMaxMs: 20_000 };
    const { clock, nodes } = await createCluster({ slots: 1, config: { times } });
    const [node] = nodes as [RuntimeNode];
    await node.start();
    const first = await node.sendTask('a');
    const second = await node.sendTask('b');
    await clock.advance('16s');
    expect(await kindsAfter(node, second.taskNo, 3)).toEqual(['run-settled', 'failed']);
    await node.settle(await node.engine.startedRun(1), {
      kind: 'interrupted',
      state: 'input-required',
      message: question,
    });
    await clock.advance('26s');
    expect((await node.log(first.taskNo)).at(-1)).toMatchObject({
      state: 'failed',
      message: { parts: [{ text: 'The task timed out: nobody answered it.' }] },
    });
    await node.stop();
  });
});

describe('timers', () => {
  const park = (node: RuntimeNode, inMs: number) => ({
    kind: 'parked' as const,
    suspensions: [
      {
        turnNo: 1 as never,
        key: 'sleep:1',
        kind: 'sleep' as const,
        state: 'open' as const,
        dueAt: (node.clock.now() + inMs) as never,
      },
    ],
    events: [{ kind: 'timer-set' as const, key: 'sleep:1', wakeAt: (node.clock.now() + inMs) as never }],
    wake: { at: (node.clock.now() + inMs) as never },
  });

  test('a sleep of an hour holds no timer of its own and ends to the moment where it was begun', async () => {
    const { clock, nodes } = await createCluster({ config: { sweepMs: 600_000 } });
    const [node] = nodes as [RuntimeNode];
    await node.start();
    await clock.advance(1);
    const { taskNo } = await node.sendTask('a');
    const before = clock.sleeping();
    await node.settle(await node.engine.startedRun(1), park(node, 3_600_000));
    await clock.advance(3_599_999);
    expect(node.engine.started).toHaveLength(1);
    expect(clock.sleeping()).toBe(before);
    await clock.advance(1);
    expect(await node.engine.startedRun(2)).toMatchObject({ taskNo, attempt: 2 });
    expect((await node.log(taskNo)).slice(-4).map(({ kind }) => kind)).toContain('timer-fired');
    expect(node.logged.filter(({ message }) => message === 'task swept').map(({ level }) => level)).toEqual(['debug']);
    await node.stop();
  });

  test('one that another node set fires within a sweep', async () => {
    const { clock, nodes } = await createCluster({}, {});
    const [a, b] = nodes as [RuntimeNode, RuntimeNode];
    await a.start();
    await a.sendTask('a');
    await a.settle(await a.engine.startedRun(1), park(a, 60_000));
    await kill(a);
    await b.start();
    await clock.advance('66s');
    expect(b.engine.started).toHaveLength(1);
    await b.stop();
  });
});
