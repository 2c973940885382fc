import { instant } from '../../base/clock.ts';
import type { WorkerId, WorkerNo } from '../../model/ids.ts';
import type { SystemStore } from '../contract.ts';
import { buryExpiredWorkers, buryOtherWorkers, extendLease, insertWorker, retireWorker } from '../sql/worker-writes.ts';
import type { Statement } from './database.ts';
import { isLost } from './errors.ts';
import { type PostgresContext, readNow } from './postgres-context.ts';

type WorkerMethods = Pick<SystemStore, 'registerWorker' | 'renewWorker' | 'buryWorkers' | 'retireWorker'>;

/** Workers and their leases. */
export function openWorkers(context: PostgresContext): WorkerMethods {
  const { d, database } = context;
  return {
    async registerWorker({ workerId, agents, leaseMs }) {
      const leaseUntil = instant((await readNow(context)) + leaseMs);
      const insert = insertWorker(d, { id: workerId, agents, leaseUntil });
      const [rows] = await database.write([insert]).catch(async (error) => {
        if (!isLost(error)) throw error;
        const known = await database.read([selectWorker(context, workerId)]);
        return known[0]?.length === 1 ? known : await database.write([insert]);
      });
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

/** The worker that a registration whose answer was lost has made: its id is nobody else's. */
function selectWorker({ d }: PostgresContext, workerId: WorkerId): Statement {
  return { text: `select no from ${d.table('worker')} where id = $1`, values: [workerId] };
}
