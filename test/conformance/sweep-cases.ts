import { describe, expect, test } from 'vitest';
import { instant } from '../../src/base/clock.ts';
import type { WorkerId, WorkerNo } from '../../src/model/ids.ts';
import { endWrite, nextRunWrite, parkWrite, settled, status } from './builders.ts';
import type { OpenWorld } from './store-suite.ts';

export function describeSweeps(open: OpenWorld): void {
  describe('sweep', () => {
    describeTimers(open);
    describeOrphans(open);
  });
}

function describeTimers(open: OpenWorld): void {
  test('lists waiting runs whose time has come, earliest first', async () => {
    const world = await open();
    const start = world.clock.now();
    const tasks = [];
    for (const ms of [300, 100, 200, 301]) {
      const { task, grant } = await world.start();
      await world.settle(
        grant,
        parkWrite(grant, { wakeAt: instant(start + ms), ...(ms === 200 ? { wakeKey: 'k' } : {}) }),
      );
      tasks.push(task.no);
    }
    const { grant } = await world.start();
    await world.settle(grant, parkWrite(grant, { wakeKey: 'ask:x' }));
    await world.submit({ delayMs: 50 });
    expect(await world.store.dueTimers(10)).toEqual([]);
    await world.clock.advance(300);
    const [late, early, middle] = tasks;
    expect(await world.store.dueTimers(10)).toEqual([early, middle, late]);
    expect(await world.store.dueTimers(1)).toEqual([early]);
  });

  test('a run that was woken is due no more', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    await world.settle(grant, parkWrite(grant, { wakeAt: world.clock.now() }));
    expect(await world.store.dueTimers(10)).toEqual([task.no]);
    const write = nextRunWrite(grant, 'parked', world.run());
    await world.command(task, { ...write, events: [...write.events, status('working')] });
    expect(await world.store.dueTimers(10)).toEqual([]);
    expect(await world.claim(await world.worker())).toHaveLength(1);
  });
}

function describeOrphans(open: OpenWorld): void {
  test('are tasks whose worker was buried, and only those', async () => {
    const world = await open();
    const dying = await world.worker(1_000);
    const { task } = await world.start({ grantTo: dying });
    await world.start({ grantTo: await world.worker(60_000) });
    await world.submit();
    await world.complete({ grantTo: dying });
    const { grant: parked } = await world.start({ grantTo: dying });
    await world.settle(parked, parkWrite(parked, { wakeKey: 'ask:x' }));
    await world.clock.advance(1_001);
    expect(await world.store.orphans(10)).toEqual([]);
    await world.store.buryWorkers({ all: false });
    expect(await world.store.orphans(10)).toEqual([task.no]);
  });

  test('are tasks whose worker retired with them in hand', async () => {
    const world = await open();
    const worker = await world.worker();
    const { task } = await world.start({ grantTo: worker });
    await world.store.retireWorker(worker.workerNo);
    expect(await world.store.orphans(10)).toEqual([task.no]);
  });

  test('are tasks whose worker never was', async () => {
    const world = await open();
    const { task } = await world.submit();
    await world.claim({ workerNo: 987_654 as WorkerNo, workerId: 'nobody' as WorkerId });
    expect(await world.store.orphans(10)).toEqual([task.no]);
  });

  test('are live tasks that have no active run though their state asks for one', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const settle = { kind: 'settle' as const, runNo: grant.runNo, outcome: 'lost' as const };
    await world.command(task, { events: [settled(grant, 'lost')], runs: [settle], revokeFence: true });
    expect(await world.store.orphans(10)).toEqual([task.no]);
    await world.command(task, {
      events: [status('input-required')],
      turns: [{ kind: 'settle', turnNo: grant.turn.turnNo }],
    });
    expect(await world.store.orphans(10)).toEqual([]);
  });

  test('are orphans no more once another run is queued or the task has ended', async () => {
    const world = await open();
    const worker = await world.worker();
    const first = await world.start({ grantTo: worker });
    const second = await world.start({ grantTo: worker });
    await world.store.retireWorker(worker.workerNo);
    expect(new Set(await world.store.orphans(10))).toEqual(new Set([first.task.no, second.task.no]));
    expect(await world.store.orphans(1)).toHaveLength(1);
    await world.command(first.task, nextRunWrite(first.grant, 'lost', world.run()));
    await world.command(second.task, endWrite(second.grant, 'failed'));
    expect(await world.store.orphans(10)).toEqual([]);
  });
}
