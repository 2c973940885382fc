import { instant } from '../../base/clock.ts';
import type { WorkerNo } from '../../model/ids.ts';
import type { SystemStore } from '../contract.ts';
import { buryExpiredWorkers, buryOtherWorkers, extendLease, insertWorker, retireWorker } from '../sql/worker-writes.ts';
import { type PostgresContext, readNow } from './postgres-context.ts';

type WorkerMethods = Pick<SystemStore, 'registerWorker' | 'renewWorker' | 'buryWorkers' | 'retireWorker'>;

/** Workers and their leases. */
export function openWorkers(context: PostgresContext): WorkerMethods {
  const { d, database } = context;
  return {
    async registerWorker({ workerId, agents, leaseMs }) {
      const leaseUntil = instant((await readNow(context)) + leaseMs);
      const [rows] = await database.write([insertWorker(d, { id: workerId, agents, leaseUntil })]);
      return rows?.[0]?.no as WorkerNo;
    },
    async renewWorker({ workerNo, leaseMs }) {
      const leaseUntil = instant((await readNow(context)) + leaseMs);
      const [rows] = await database.write([extendLease(d, workerNo, leaseUntil)], { repeatable: true });
      return rows?.length === 1;
    },
    async buryWorkers({ all, except }) {
      const statement = all ? buryOtherWorkers(d, except ?? 0) : buryExpiredWorkers(d, await readNow(context));
      const [rows] = await database.write([statement], { repeatable: true });
      return rows?.length ?? 0;
    },
    async retireWorker(workerNo) {
      await database.write([retireWorker(d, workerNo)], { repeatable: true });
    },
  };
}
