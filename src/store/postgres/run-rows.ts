import { unreachable } from '../../base/assert.ts';
import type { WorkerNo } from '../../model/ids.ts';
import { RUN_OUTCOME_NUMBERS, RUN_STATE_NUMBERS } from '../../model/run.ts';
import type { NewRun, RunWrite } from '../../model/task-write.ts';
import type { Dialect } from '../sql/dialect.ts';
import type { Statement } from './database.ts';
import { expecting, movedTask, type TaskPlaceKey } from './moved-task.ts';
import { moment, Parameters } from './parameters.ts';

const { queued: QUEUED, leased: LEASED, waiting: WAITING, settled: SETTLED } = RUN_STATE_NUMBERS;

/** What a change of a task does to one of its runs. A queued run returns its `no`. */
export function writeRun(
  d: Dialect,
  key: TaskPlaceKey,
  write: RunWrite,
  context: { readonly now: number | null; readonly leaseTo?: WorkerNo },
): Statement {
  switch (write.kind) {
    case 'settle':
      return settleRun(d, key, write);
    case 'park':
      return parkRun(d, key, write);
    case 'queue':
      return context.leaseTo === undefined
        ? queueRun(d, key, write.run, context.now)
        : leaseNewRun(d, key, write.run, context.leaseTo);
    default:
      return unreachable(write);
  }
}

function settleRun(d: Dialect, key: TaskPlaceKey, write: RunWrite & { readonly kind: 'settle' }): Statement {
  const p = new Parameters();
  const text = `update ${d.table('run')} r
    set state = ${SETTLED}, outcome = ${p.add(RUN_OUTCOME_NUMBERS[write.outcome])}, reason = ${p.add(write.reason ?? null)},
      settled_at = t.head_at, runnable_at = null, wake_key = null, worker_no = null, fence = null
    from ${movedTask(d, p, key)} and r.task_no = t.no and r.no = ${p.add(write.runNo)} and r.state <> ${SETTLED}`;
  return expecting(d, p, key, { count: 1, text });
}

function parkRun(d: Dialect, key: TaskPlaceKey, write: RunWrite & { readonly kind: 'park' }): Statement {
  const p = new Parameters();
  const text = `update ${d.table('run')} r
    set state = ${WAITING}, runnable_at = ${p.add(write.wakeAt ?? null)}, wake_key = ${p.add(write.wakeKey ?? null)},
      worker_no = null, fence = null
    from ${movedTask(d, p, key)} and r.task_no = t.no and r.no = ${p.add(write.runNo)} and r.state = ${LEASED}`;
  return expecting(d, p, key, { count: 1, text });
}

function queueRun(d: Dialect, key: TaskPlaceKey, run: NewRun, now: number | null): Statement {
  const p = new Parameters();
  const text = `insert into ${d.table('run')} (id, task_no, turn_no, attempt, agent, scope, state, runnable_at)
    select ${p.add(run.id)}, t.no, ${p.add(run.turnNo)}, ${p.add(run.attempt)}, t.agent, t.scope, ${QUEUED},
      ${moment(d, p, now)} + ${p.add(run.delayMs)}
    from ${movedTask(d, p, key)}
    returning no`;
  return { text, values: p.values };
}

/** The change grants the run it queues: the task's new fence is the run's. */
function leaseNewRun(d: Dialect, key: TaskPlaceKey, run: NewRun, workerNo: WorkerNo): Statement {
  const p = new Parameters();
  const text = `insert into ${d.table('run')}
      (id, task_no, turn_no, attempt, agent, scope, state, started_at, worker_no, fence)
    select ${p.add(run.id)}, t.no, ${p.add(run.turnNo)}, ${p.add(run.attempt)}, t.agent, t.scope, ${LEASED},
      t.head_at, ${p.add(workerNo)}, t.fence
    from ${movedTask(d, p, key)}
    returning no`;
  return { text, values: p.values };
}
