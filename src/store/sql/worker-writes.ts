import type { Dialect, Statement } from './dialect.ts';

/** Returns `no`. */
export function insertWorker(
  d: Dialect,
  worker: { readonly id: string; readonly agents: readonly string[]; readonly leaseUntil: number },
): Statement {
  const text = `insert into ${d.table('worker')} (id, agents, lease_until)
    values (${d.param(1)}, ${d.param(2)}, ${d.param(3)})
    returning no`;
  return { text, values: [worker.id, JSON.stringify(worker.agents), worker.leaseUntil] };
}

/** Returns `no` when the worker lives. A renewal that arrives late does not shorten the lease. */
export function extendLease(d: Dialect, workerNo: number, leaseUntil: number): Statement {
  const text = `update ${d.table('worker')}
    set lease_until = ${d.greatest('lease_until', d.param(2))}
    where no = ${d.param(1)} and dead = 0
    returning no`;
  return { text, values: [workerNo, leaseUntil] };
}

/** Returns `no` of each that died. Rides on `worker_alive`. */
export function buryExpiredWorkers(d: Dialect, now: number): Statement {
  const text = `update ${d.table('worker')}
    set dead = 1
    where dead = 0 and lease_until <= ${d.param(1)}
    returning no`;
  return { text, values: [now] };
}

/** Returns `no` of each that died; `except` of 0 is nobody. */
export function buryOtherWorkers(d: Dialect, except: number): Statement {
  const text = `update ${d.table('worker')}
    set dead = 1
    where dead = 0 and no <> ${d.param(1)}
    returning no`;
  return { text, values: [except] };
}

export function retireWorker(d: Dialect, workerNo: number): Statement {
  const text = `update ${d.table('worker')}
    set dead = 1
    where no = ${d.param(1)}`;
  return { text, values: [workerNo] };
}
