import { RUN_STATE_NUMBERS } from '../../model/run.ts';
import type { Dialect, Statement } from './dialect.ts';

const { queued: QUEUED, leased: LEASED, waiting: WAITING, settled: SETTLED } = RUN_STATE_NUMBERS;

const RUN_COLUMNS = `no, id, turn_no, attempt, state, runnable_at, wake_key, worker_no, fence,
    outcome, reason, started_at, settled_at`;

/** Oldest first. */
export function selectRuns(d: Dialect, taskNo: number): Statement {
  const text = `select ${RUN_COLUMNS}
    from ${d.table('run')}
    where task_no = ${d.param(1)}
    order by no`;
  return { text, values: [taskNo] };
}

/** The run that is held, queued, leased or waiting. Rides on `run_one_active`. */
export function selectActiveRun(d: Dialect, taskNo: number): Statement {
  const text = `select ${RUN_COLUMNS}
    from ${d.table('run')}
    where task_no = ${d.param(1)} and state <> ${SETTLED}`;
  return { text, values: [taskNo] };
}

/** One row with the column `runnable_at`, null when no run of these agents is queued. Rides on `run_ready`. */
export function selectNextRunnableAt(d: Dialect, agents: readonly string[]): Statement {
  const text = `select min(runnable_at) as runnable_at
    from ${d.table('run')}
    where agent ${d.anyOf(1)} and state = ${QUEUED} and engine = 'local'`;
  return { text, values: [d.list(agents)] };
}

/** The column `task_no`: waiting runs whose time has come, earliest first. Rides on `run_timer`. */
export function selectDueTimers(d: Dialect, now: number | null, itemsMax: number): Statement {
  const text = `select task_no
    from ${d.table('run')}
    where state = ${WAITING} and runnable_at is not null and runnable_at <= ${d.moment(1)}
    order by runnable_at, task_no
    limit ${d.param(2)}`;
  return { text, values: [now, itemsMax] };
}

/** The columns `task_no` and `fence`: runs that are leased to this worker. Rides on `run_of_worker`. */
export function selectRunsOfWorker(d: Dialect, workerNo: number): Statement {
  const text = `select task_no, fence
    from ${d.table('run')}
    where worker_no = ${d.param(1)} and state = ${LEASED}
    order by task_no`;
  return { text, values: [workerNo] };
}

/** The column `task_no`: tasks whose deadline has passed, earliest first. Rides on `task_deadline`. */
export function selectDueDeadlines(d: Dialect, now: number | null, itemsMax: number): Statement {
  const text = `select no as task_no
    from ${d.table('task')}
    where deadline_at is not null and deadline_at <= ${d.moment(1)}
    order by deadline_at, no
    limit ${d.param(2)}`;
  return { text, values: [now, itemsMax] };
}

/** The column `task_no`: runs that are leased to a worker who is dead or does not exist. Rides on `run_of_worker`. */
export function selectRunsOfTheDead(d: Dialect, itemsMax: number): Statement {
  const text = `select r.task_no
    from ${d.table('run')} r
    left join ${d.table('worker')} w on w.no = r.worker_no and w.dead = 0
    where r.state = ${LEASED} and w.no is null
    order by r.worker_no, r.task_no
    limit ${d.param(1)}`;
  return { text, values: [itemsMax] };
}

/** The column `task_no`: tasks that are submitted or working with nobody to go on. Rides on `task_running`. */
export function selectRunless(d: Dialect, itemsMax: number): Statement {
  const text = `select t.no as task_no
    from ${d.table('task')} t
    where t.state in (1, 2)
      and not exists (select 1 from ${d.table('run')} r where r.task_no = t.no and r.state <> ${SETTLED})
    order by t.no
    limit ${d.param(1)}`;
  return { text, values: [itemsMax] };
}

/** Columns `state` and `items`: active runs by state. Rides on `run_one_active`. */
export function countActiveRuns(d: Dialect): Statement {
  const text = `select state, count(*) as items
    from ${d.table('run')}
    where state <> ${SETTLED}
    group by state`;
  return { text, values: [] };
}
