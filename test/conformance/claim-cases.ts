import { describe, expect, test } from 'vitest';
import type { AgentName } from '../../src/model/ids.ts';
import type { Scope } from '../../src/model/scope.ts';
import type { Grant } from '../../src/store/contract.ts';
import { AGENT, chunk, eventFacts, nextRunWrite, OTHER_AGENT, OTHER_SCOPE, parkWrite, SCOPE } from './builders.ts';
import type { OpenWorld } from './store-suite.ts';

export function describeClaims(open: OpenWorld): void {
  describe('claim', () => {
    describeGrants(open);
    describeConcurrentClaims(open);
    describeOrder(open);
  });
}

function describeGrants(open: OpenWorld): void {
  test('leases a runnable run and begins its task', async () => {
    const world = await open();
    const { task } = await world.submit({ more: { trace: 'e'.repeat(32) } });
    const worker = await world.worker();
    await world.clock.advance(1_000);
    const [grant, ...others] = await world.claim(worker);
    const at = world.clock.now();
    const view = await world.scoped().readTask(task.id);
    const run = view?.run;
    const events = [
      { kind: 'run-started', runId: run?.id, turnNo: 1, attempt: 1, workerId: worker.workerId, seq: 4, at },
      { kind: 'status-changed', state: 'working', seq: 5, at },
    ];
    expect(others).toEqual([]);
    expect(grant).toEqual({
      taskNo: task.no,
      taskId: task.id,
      agent: AGENT,
      scope: SCOPE,
      sessionNo: task.sessionNo,
      contextId: task.contextId,
      threadId: task.threadId,
      runNo: run?.no,
      runId: run?.id,
      turn: view?.turn,
      attempt: 1,
      workerNo: worker.workerNo,
      fence: 1,
      headSeq: 5,
      trace: 'e'.repeat(32),
      events,
    });
    expect(run).toEqual({
      no: run?.no,
      id: run?.id,
      turnNo: 1,
      attempt: 1,
      startedAt: at,
      state: 'leased',
      workerNo: worker.workerNo,
      fence: 1,
    });
    expect(view?.task).toMatchObject({ state: 'working', fence: 1, headSeq: 5, stateAt: at });
    expect(view?.turn.attempts).toBe(1);
    expect((await world.events(task)).slice(3)).toEqual(events);
  });

  test('of a task that works already appends only the start of the run', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    await world.store.append(grant, { emitNo: 0, facts: eventFacts(chunk(grant)) });
    await world.command(task, nextRunWrite(grant, 'handed-back', world.run()));
    const [next] = await world.claim(await world.worker());
    expect(next?.events.map(({ kind }) => kind)).toEqual(['run-started']);
    expect(next).toMatchObject({ attempt: 2, headSeq: 8, turn: { attempts: 2, crashes: 0 } });
    expect(next?.fence).toBeGreaterThan(grant.fence + 1);
    const { task: after } = await world.view(grant);
    expect(after).toMatchObject({ fence: next?.fence, emitNo: 0, state: 'working', statusSeq: 5 });
    const append = await world.store.append(next as Grant, { emitNo: 0, facts: eventFacts(chunk(grant)) });
    expect(append).toMatchObject({ kind: 'written', headSeq: 9 });
  });

  test('leaves alone what is leased, waiting, settled or not yet runnable', async () => {
    const world = await open();
    const { grant: parked } = await world.start();
    await world.settle(parked, parkWrite(parked, { wakeKey: 'ask:x' }));
    await world.start();
    await world.complete();
    const { task } = await world.submit({ delayMs: 5_000 });
    const worker = await world.worker();
    expect(await world.claim(worker)).toEqual([]);
    await world.clock.advance(4_999);
    expect(await world.claim(worker)).toEqual([]);
    await world.clock.advance(1);
    expect(await world.claim(worker)).toMatchObject([{ taskNo: task.no }]);
  });

  test('leaves alone a run that was settled while it was queued', async () => {
    const world = await open();
    const { task } = await world.submit();
    const run = (await world.scoped().readTask(task.id))?.run;
    if (run === undefined) throw new Error('a submitted task has a run');
    await world.command(task, {
      events: [{ kind: 'status-changed', state: 'canceled' }],
      runs: [{ kind: 'settle', runNo: run.no, outcome: 'canceled' }],
      revokeFence: true,
    });
    expect(await world.store.nextRunnableAt([AGENT])).toBeUndefined();
    expect(await world.claim(await world.worker())).toEqual([]);
    expect(await world.events(task)).toHaveLength(4);
  });

  test('honours the back-off of a next attempt', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    await world.command(task, nextRunWrite(grant, 'lost', world.run({ delayMs: 25_000 })));
    const worker = await world.worker();
    expect(await world.claim(worker)).toEqual([]);
    await world.clock.advance('25s');
    expect(await world.claim(worker)).toHaveLength(1);
  });

  test('takes the agents of its worker only', async () => {
    const world = await open();
    await world.submit();
    const { task } = await world.submit({ agent: OTHER_AGENT });
    const worker = await world.worker();
    expect(await world.claim(worker, 10, [])).toEqual([]);
    expect(await world.claim(worker, 10, ['agent-c' as AgentName])).toEqual([]);
    expect(await world.claim(worker, 10, [OTHER_AGENT])).toMatchObject([{ taskNo: task.no, agent: OTHER_AGENT }]);
    expect(await world.claim(worker, 10, [OTHER_AGENT])).toEqual([]);
  });

  test('takes no more than it was asked to', async () => {
    const world = await open();
    for (let count = 0; count < 5; count += 1) await world.submit();
    const worker = await world.worker();
    expect(await world.claim(worker, 2)).toHaveLength(2);
    expect(await world.claim(worker, 0)).toHaveLength(0);
    expect(await world.claim(worker, 9)).toHaveLength(3);
  });

  test('tells when the next queued run becomes runnable', async () => {
    const world = await open();
    const agents = [AGENT];
    expect(await world.store.nextRunnableAt(agents)).toBeUndefined();
    await world.submit({ delayMs: 9_000 });
    await world.submit({ delayMs: 3_000 });
    await world.submit({ delayMs: 1_000, agent: OTHER_AGENT });
    await world.start();
    expect(await world.store.nextRunnableAt(agents)).toBe(world.clock.now() + 3_000);
    expect(await world.store.nextRunnableAt([OTHER_AGENT, AGENT])).toBe(world.clock.now() + 1_000);
    await world.clock.advance(3_000);
    await world.claim(await world.worker(), 10, agents);
    expect(await world.store.nextRunnableAt(agents)).toBe(world.clock.now() + 6_000);
    expect(await world.store.nextRunnableAt([])).toBeUndefined();
  });
}

function describeConcurrentClaims(open: OpenWorld): void {
  test('by many workers at once leases no run twice', async () => {
    const world = await open();
    const workers = await Promise.all(Array.from({ length: 8 }, () => world.worker()));
    const tasks = await Promise.all(
      Array.from({ length: 30 }, (_, index) => world.submit({ scope: `user=${index % 4}` as Scope })),
    );
    const granted: Grant[] = [];
    // A claim may skip what another holds at that moment, so the workers ask until nothing is left.
    for (let round = 0; round < 20 && granted.length < tasks.length; round += 1) {
      const answers = await Promise.all(workers.map((worker) => world.claim(worker, 3)));
      granted.push(...answers.flat());
    }
    expect(granted).toHaveLength(30);
    expect(new Set(granted.map(({ runNo }) => runNo)).size).toBe(30);
    for (const { task } of tasks) {
      const events = await world.events(task);
      expect(events.map(({ kind }) => kind).slice(3)).toEqual(['run-started', 'status-changed']);
    }
  });

  test('and a cancel at once: the run starts or never does', async () => {
    const world = await open();
    const worker = await world.worker();
    for (let round = 0; round < 10; round += 1) {
      const { task } = await world.submit();
      const run = (await world.scoped().readTask(task.id))?.run;
      if (run === undefined) throw new Error('a submitted task has a run');
      const cancel = {
        events: [{ kind: 'status-changed' as const, state: 'canceled' as const }],
        runs: [{ kind: 'settle' as const, runNo: run.no, outcome: 'canceled' as const }],
        revokeFence: true,
      };
      const [grants, command] = await Promise.all([
        world.claim(worker),
        world.store.command(task.no, task.headSeq, cancel),
      ]);
      if (command.kind === 'written') {
        expect(grants).toEqual([]);
        expect(await world.events(task)).toHaveLength(4);
      } else {
        expect(command.kind).toBe('moved');
        expect(grants).toHaveLength(1);
      }
    }
  });

  test('gives every grant of a task a larger fence than the last', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const fences = [grant.fence];
    let newest = grant;
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await world.command(task, nextRunWrite(newest, 'lost', world.run()));
      const [next] = await world.claim(await world.worker());
      if (next === undefined) throw new Error('the next attempt is runnable');
      newest = next;
      fences.push(newest.fence);
    }
    expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
    for (const fence of fences.slice(0, -1)) {
      const stale = { ...newest, fence };
      await expect(world.store.append(stale, { emitNo: 0, facts: [] })).rejects.toMatchObject({ code: 'lease_lost' });
    }
  });
}

function describeOrder(open: OpenWorld): void {
  test('takes the longest runnable first', async () => {
    const world = await open();
    const late = await world.submit({ delayMs: 300 });
    const early = await world.submit({ delayMs: 100 });
    const middle = await world.submit({ delayMs: 200 });
    await world.clock.advance(1_000);
    const worker = await world.worker();
    const order = [];
    for (let count = 0; count < 3; count += 1) order.push(...(await world.claim(worker, 1)));
    expect(order.map(({ taskNo }) => taskNo)).toEqual([early, middle, late].map(({ task }) => task.no));
  });

  test('takes the longest runnable first over scopes and agents too', async () => {
    const world = await open();
    const late = await world.submit({ delayMs: 300 });
    const early = await world.submit({ delayMs: 100, agent: OTHER_AGENT });
    const middle = await world.submit({ delayMs: 200, scope: OTHER_SCOPE });
    await world.clock.advance(1_000);
    const worker = await world.worker();
    const order = [];
    for (let count = 0; count < 3; count += 1) order.push(...(await world.claim(worker, 1)));
    expect(order.map(({ taskNo }) => taskNo)).toEqual([early, middle, late].map(({ task }) => task.no));
  });

  test('lets no scope and no agent wait behind the many of another', async () => {
    const world = await open();
    for (let count = 0; count < 40; count += 1) await world.submit();
    await world.clock.advance(1_000);
    const ofOtherScope = await world.submit({ scope: OTHER_SCOPE });
    const ofOtherAgent = await world.submit({ agent: OTHER_AGENT });
    const grants = await world.claim(await world.worker(), 4);
    expect(grants).toHaveLength(4);
    const claimed = grants.map(({ taskNo }) => taskNo);
    expect(claimed).toContain(ofOtherScope.task.no);
    expect(claimed).toContain(ofOtherAgent.task.no);
  });
}
