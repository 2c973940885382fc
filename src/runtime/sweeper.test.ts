import { describe, expect, test, vi } from 'vitest';
import { defineAgent } from '../agent/define-agent.ts';
import type { Agent, PolicyOptions } from '../agent/definition.ts';
import type { Seq, TaskNo, WorkerNo } from '../model/ids.ts';
import type { Message } from '../model/message.ts';
import { anonymousCaller } from '../model/scope.ts';
import type { SystemStore } from '../store/contract.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { interceptStore } from '../testing/intercepted-store.ts';
import { createCluster, kill, kindsAfter, shortTimes } from '../testing/replicas.ts';
import {
  chunk,
  collect,
  createNode,
  echoAgent,
  never,
  type RuntimeNode,
  textMessage,
} from '../testing/runtime-node.ts';

const question: Message = textMessage('q1', 'Which?', { role: 'agent' });
const noGrants = { slots: 0 };

function agentWith(policy: PolicyOptions, name = 'echo'): Agent {
  return defineAgent({ name, description: '-', policy, run: (turn) => turn.text });
}

describe('a worker that died', () => {
  test('its runs go on elsewhere after its lease; what waits for a client is left alone', async () => {
    const { clock, nodes } = await createCluster({}, {});
    const [a, b] = nodes as [RuntimeNode, RuntimeNode];
    await a.start();
    const working = await a.sendTask('a');
    const asking = await a.sendTask('b');
    const signing = await a.sendTask('c');
    await a.settle(await a.engine.startedRun(2), { kind: 'interrupted', state: 'input-required', message: question });
    await a.settle(await a.engine.startedRun(3), { kind: 'interrupted', state: 'auth-required', message: question });
    await kill(a);
    const submitted = await a.sendTask('d');
    await b.start();
    await clock.advance('29s');
    expect(b.engine.started.map(({ grant }) => grant.taskNo)).toEqual([submitted.taskNo]);
    await clock.advance('8s');
    expect(b.engine.started.map(({ grant }) => grant.taskNo)).toEqual([submitted.taskNo, working.taskNo]);
    expect(await kindsAfter(b, working.taskNo, 5)).toEqual(['run-settled', 'run-started']);
    expect(b.engine.started[1]?.grant.turn.crashes).toBe(1);
    for (const { task } of [asking, signing]) {
      const sent = await b.sendTask({ messageId: `answer ${task.id}` as never, taskId: task.id });
      expect(sent.task.state).toBe('working');
    }
    await b.stop();
  });

  test('a stalled one that comes back writes nothing any more', async () => {
    const { clock, store, nodes } = await createCluster({}, {});
    const [a, b] = nodes as [RuntimeNode, RuntimeNode];
    await a.start();
    const { taskNo } = await a.sendTask('a');
    const grant = await a.engine.startedRun(1);
    await a.emit(grant, chunk(grant, 'one', { append: false }));
    await kill(a);
    await b.start();
    await clock.advance('40s');
    const successor = await b.engine.startedRun(1);
    const head = (await b.log(taskNo)).length;
    await expect(a.emit(grant, chunk(grant, 'two'))).rejects.toMatchObject({ code: 'lease_lost' });
    await expect(a.settle(grant, { kind: 'succeeded' })).rejects.toMatchObject({ code: 'lease_lost' });
    expect(await store.renewWorker({ workerNo: grant.workerNo, leaseMs: 30_000 })).toBe(false);
    expect(await b.log(taskNo)).toHaveLength(head);
    await b.settle(successor, { kind: 'succeeded' });
    expect((await store.readView(taskNo))?.task.state).toBe('completed');
    await b.stop();
  });

  test.each([
    ['the agent does not run twice', { onCrash: 'fail' as const }, 1],
    ['it crashes too often', { crashesMax: 2 }, 3],
  ])('its task fails in one transaction when %s, and everyone is told', async (_why, policy, crashes) => {
    const { clock, store, nodes } = await createCluster({ agents: [agentWith(policy)], config: { ownsStore: true } });
    const [node] = nodes as [RuntimeNode];
    await node.start();
    const { taskNo, task } = await node.sendTask('a');
    const feed = collect(node.runtime.follow(taskNo, { after: 0 as Seq, signal: never }));
    for (let count = 1; count <= crashes; count += 1) {
      while (node.engine.started.length < count) await clock.advance('1s');
      node.engine.release(taskNo);
      await loseRun(store, taskNo);
    }
    while ((await store.readView(taskNo))?.task.state !== 'failed') await clock.advance('1s');
    const { events } = await feed;
    expect(events.filter((event) => event.kind === 'run-settled')).toHaveLength(crashes);
    expect(events.at(-1)).toMatchObject({ kind: 'status-changed', state: 'failed' });
    const next = await node.sendTask({ contextId: task.contextId });
    expect(next.task.state).toBe('working');
    await node.stop();
  });
});

/** Leases the task's run to a worker that is dead already, as if it had died with it. */
async function loseRun(store: SystemStore, taskNo: TaskNo): Promise<void> {
  const view = await store.readView(taskNo);
  const workerNo = view?.run?.state === 'leased' ? view.run.workerNo : undefined;
  if (workerNo === undefined) throw new Error('the run is leased');
  await store.retireWorker(workerNo);
}

describe('a process that owns the store', () => {
  test('takes over at its start everything that another had leased, before it serves', async () => {
    const { nodes } = await createCluster({ config: { ownsStore: true } }, { config: { ownsStore: true } });
    const [before, after] = nodes as [RuntimeNode, RuntimeNode];
    await before.start();
    const { taskNo } = await before.sendTask('a');
    await before.engine.startedRun(1);
    await kill(before);
    await after.start();
    expect((await after.store.readView(taskNo))?.turn.crashes).toBe(1);
    await after.clock.advance(0);
    expect(after.engine.started.map(({ grant }) => grant.taskNo)).toEqual([taskNo]);
    await after.stop();
  });

  test('never sweeps its own live runs, however its clock jumps', async () => {
    const { clock, nodes } = await createCluster({ config: { ownsStore: true } });
    const [node] = nodes as [RuntimeNode];
    await node.start();
    const { taskNo } = await node.sendTask('a');
    clock.set(clock.now() + 31_000);
    await node.system.sweeper.sweep(never);
    expect(await kindsAfter(node, taskNo, 5)).toEqual([]);
    await clock.advance('30s');
    expect(node.engine.losses).toBe(0);
    await node.stop();
  });
});

describe('a live task without a run that anybody holds', () => {
  test('is taken up: leased to a worker that does not exist', async () => {
    const { clock, store, nodes } = await createCluster(noGrants, {});
    const [a, b] = nodes as [RuntimeNode, RuntimeNode];
    const { taskNo } = await a.sendTask('a');
    const [grant] = await store.claim({
      workerNo: 99 as WorkerNo,
      workerId: 'ghost' as never,
      agents: ['echo' as never],
      runsMax: 1,
    });
    expect(grant?.taskNo).toBe(taskNo);
    await b.start();
    await clock.advance('6s');
    expect((await b.engine.startedRun(1)).taskNo).toBe(taskNo);
    await b.stop();
  });
});

describe('an agent that this process does not serve', () => {
  test('is left to one that does, and ends by its idle deadline if nobody ever comes', async () => {
    const other = agentWith({}, 'other');
    const { clock, nodes } = await createCluster({ agents: [other] }, {});
    const [a, b] = nodes as [RuntimeNode, RuntimeNode];
    await a.start();
    const { taskNo } = await a.sendTask('a');
    await kill(a);
    await b.start();
    await clock.advance('50s');
    expect(await kindsAfter(b, taskNo, 5)).toEqual([]);
    const mine = await b.sendTask('b');
    expect(mine.task.state).toBe('working');
    await clock.advance('20s');
    expect(await kindsAfter(b, taskNo, 5)).toEqual(['run-settled', 'failed']);
    expect(b.engine.started.map(({ grant }) => grant.taskNo)).toEqual([mine.taskNo]);
    await b.stop();
  });
});

describe('a sweep', () => {
  test('goes on where one task fails, and where the store does', async () => {
    const clock = createFakeClock();
    const inner = await openMemoryStore({ clock });
    const broken = new Set<TaskNo>();
    let isAway = false;
    const store = interceptStore(inner, (name, call, args) => {
      if (isAway || (name === 'command' && broken.has(args[0] as TaskNo))) return Promise.reject(new Error('broken'));
      return call();
    });
    const times = { ...shortTimes, queuedMaxMs: 10_000 };
    const node = await createNode({ clock, store, slots: 0, config: { times } });
    await node.start();
    const sent = [];
    for (let count = 0; count < 250; count += 1) sent.push(await node.sendTask(`${count}`));
    for (const { taskNo } of sent.slice(0, 120)) broken.add(taskNo);
    await clock.advance('16s');
    const states = async () => (await inner.stats()).tasks;
    expect(await states()).toMatchObject({ failed: 130, submitted: 120 });
    isAway = true;
    await clock.advance('20s');
    isAway = false;
    broken.clear();
    await clock.advance('6s');
    expect(await states()).toMatchObject({ failed: 250, submitted: 0 });
    expect(node.logged.some(({ message }) => message === 'task not swept')).toBe(true);
    await node.stop();
  });

  test('by every replica at once writes each end once', async () => {
    const times = { ...shortTimes, queuedMaxMs: 10_000 };
    const options = { slots: 0, config: { times } };
    const { clock, store, nodes } = await createCluster(options, options, options);
    for (const node of nodes) await node.start();
    const sent = await Promise.all(Array.from({ length: 30 }, (_item, at) => nodes[at % 3]!.sendTask(`${at}`)));
    await clock.advance('16s');
    for (const { taskNo } of sent) {
      const log = await nodes[0]!.log(taskNo);
      expect(log.map(({ kind }) => kind).slice(3)).toEqual(['run-settled', 'status-changed']);
    }
    expect((await store.stats()).tasks.failed).toBe(30);
    for (const node of nodes) await node.stop();
  });

  test('drops blobs that no event took up, an hour later', async () => {
    const { clock, store, nodes } = await createCluster({});
    const [node] = nodes as [RuntimeNode];
    await node.start();
    const total = { bytes: 1, sha256: '00' };
    const stage = () => store.stageSlice({ sliceNo: 0, data: Uint8Array.of(1), total });
    const blobNos = await Promise.all(Array.from({ length: 5 }, stage));
    const drop = vi.spyOn(node.store, 'dropStagedBlobs');
    await clock.advance('50m');
    for (const blobNo of blobNos) expect(await store.readBlobSlice(blobNo, 0)).toBeDefined();
    await clock.advance('11m');
    for (const blobNo of blobNos) expect(await store.readBlobSlice(blobNo, 0)).toBeUndefined();
    // Few at a time: a commit of many large ones would hold up everybody.
    expect(Math.max(...drop.mock.calls.map(([{ itemsMax }]) => itemsMax))).toBe(2);
    await node.stop();
  });

  test('gives a run back whose grant the store knows and the engine does not', async () => {
    const { clock, store, nodes } = await createCluster({});
    const [node] = nodes as [RuntimeNode];
    await node.start();
    await clock.advance(1);
    const { taskNo } = await node.sendTask('a');
    node.engine.release(taskNo);
    store.leasedTo = async () => {
      const run = (await store.readView(taskNo))?.run;
      return run?.state === 'leased' ? [{ taskNo, fence: run.fence }] : [];
    };
    await clock.advance('6s');
    expect(node.engine.started).toHaveLength(1);
    await clock.advance('5s');
    expect(await kindsAfter(node, taskNo, 5)).toEqual(['run-settled', 'run-started']);
    const again = await node.engine.startedRun(2);
    expect(again.turn.crashes).toBe(0);
    await clock.advance('30s');
    expect(node.engine.started).toHaveLength(2);
    await node.stop();
  });

  test('says whose task it moved', async () => {
    const { clock, nodes } = await createCluster({
      slots: 0,
      config: { times: { ...shortTimes, queuedMaxMs: 1_000 } },
    });
    const [node] = nodes as [RuntimeNode];
    await node.start();
    const { task } = await node.sendTask('a', { traceId: 'b'.repeat(32), caller: anonymousCaller, agent: echoAgent });
    await clock.advance('6s');
    expect(node.logged.find(({ message }) => message === 'task swept')?.fields).toMatchObject({
      sessionId: task.contextId,
      taskId: task.id,
      threadId: task.threadId,
      traceId: 'b'.repeat(32),
      runId: expect.any(String),
    });
    await node.stop();
  });
});
