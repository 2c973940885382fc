import { describe, expect, test } from 'vitest';
import type { WorkerId, WorkerNo } from '../../src/model/ids.ts';
import { AGENT, endWrite, REFUSED, type Worker } from './builders.ts';
import type { OpenWorld } from './store-suite.ts';

export function describeWorkers(open: OpenWorld): void {
  describe('workers', () => {
    test('get numbers that are never given twice', async () => {
      const world = await open();
      const workers = await Promise.all(Array.from({ length: 10 }, () => world.worker()));
      await world.store.buryWorkers({ all: true });
      const after = await world.worker();
      const numbers = [...workers, after].map(({ workerNo }) => workerNo);
      expect(new Set(numbers).size).toBe(11);
    });

    test('renew until they are buried, even late', async () => {
      const world = await open();
      const { workerNo } = await world.worker(1_000);
      await world.clock.advance(900);
      expect(await world.store.renewWorker({ workerNo, leaseMs: 1_000 })).toBe(true);
      await world.clock.advance(900);
      expect(await world.store.buryWorkers({ all: false })).toBe(0);
      await world.clock.advance(5_000);
      expect(await world.store.renewWorker({ workerNo, leaseMs: 1_000 })).toBe(true);
      expect(await world.store.buryWorkers({ all: false })).toBe(0);
    });

    test('that are buried never renew again', async () => {
      const world = await open();
      const dying = await world.worker(1_000);
      const living = await world.worker(10_000);
      await world.clock.advance(1_001);
      expect(await world.store.buryWorkers({ all: false })).toBe(1);
      expect(await world.store.buryWorkers({ all: false })).toBe(0);
      expect(await world.store.renewWorker({ workerNo: dying.workerNo, leaseMs: 60_000 })).toBe(false);
      expect(await world.store.renewWorker({ workerNo: living.workerNo, leaseMs: 60_000 })).toBe(true);
      expect(await world.store.renewWorker({ workerNo: dying.workerNo, leaseMs: 60_000 })).toBe(false);
    });

    test('are all buried by the one process that owns the data, but itself', async () => {
      const world = await open();
      const before = await world.worker(60_000);
      await world.worker(60_000);
      const self = await world.worker(60_000);
      expect(await world.store.buryWorkers({ all: true, except: self.workerNo })).toBe(2);
      expect(await world.store.renewWorker({ workerNo: self.workerNo, leaseMs: 1_000 })).toBe(true);
      expect(await world.store.renewWorker({ workerNo: before.workerNo, leaseMs: 1_000 })).toBe(false);
      expect(await world.store.buryWorkers({ all: true })).toBe(1);
    });

    test('that retire are dead at once', async () => {
      const world = await open();
      const { workerNo } = await world.worker(60_000);
      await world.store.retireWorker(workerNo);
      await world.store.retireWorker(workerNo);
      expect(await world.store.renewWorker({ workerNo, leaseMs: 1_000 })).toBe(false);
      expect(await world.store.buryWorkers({ all: true })).toBe(0);
    });

    test('are told what is leased to them, where a store offers it', async (context) => {
      const world = await open();
      const leasedTo = (worker: Worker) => world.store.leasedTo?.(worker.workerNo);
      const worker = await world.worker();
      if (leasedTo(worker) === undefined) return context.skip('no commit of this store ends in doubt');
      const { task, grant } = await world.start({ grantTo: worker });
      await world.start({ grantTo: await world.worker() });
      await world.complete({ grantTo: worker });
      await world.submit();
      expect(await leasedTo(worker)).toEqual([{ taskNo: task.no, fence: grant.fence }]);
      await world.settle(grant, endWrite(grant, 'completed'));
      expect(await leasedTo(worker)).toEqual([]);
    });

    test('that never registered cannot renew', async () => {
      const world = await open();
      expect(await world.store.renewWorker({ workerNo: 987_654 as WorkerNo, leaseMs: 1_000 })).toBe(false);
      await world.store.retireWorker(987_654 as WorkerNo);
    });

    test('have an id of their own', async () => {
      const world = await open();
      const workerId = 'twin' as WorkerId;
      await world.store.registerWorker({ workerId, agents: [AGENT], leaseMs: 1_000 });
      await expect(world.store.registerWorker({ workerId, agents: [AGENT], leaseMs: 1_000 })).rejects.toMatchObject(
        REFUSED,
      );
    });
  });
}
