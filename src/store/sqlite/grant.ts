import { assert } from '../../base/assert.ts';
import type { Fence, RunId, RunNo, TaskNo, TurnNo, WorkerId, WorkerNo } from '../../model/ids.ts';
import { RUN_STATE_NUMBERS } from '../../model/run.ts';
import type { Task } from '../../model/task.ts';
import { foldTask } from '../../model/task-fold.ts';
import type { Turn } from '../../model/turn.ts';
import type { Grant } from '../contract.ts';
import { newGrant } from '../new-grant.ts';
import { grantEvents } from '../place-events.ts';
import { decodeTurn, type TurnRow } from '../sql/row-codec.ts';
import type { Connection } from './connection.ts';
import { prepareEvents, writeEvents } from './event-writes.ts';
import type { Moment } from './row-writes.ts';

export interface Holder {
  readonly workerNo: WorkerNo;
  readonly workerId: WorkerId;
}

export interface GrantedRun {
  readonly no: RunNo;
  readonly id: RunId;
  readonly turnNo: TurnNo;
  readonly attempt: number;
}

const LEASE_RUN = `
  update run
  set state = ${RUN_STATE_NUMBERS.leased}, worker_no = ?2, fence = ?3, started_at = ?4, runnable_at = null
  where no = ?1 and state = ${RUN_STATE_NUMBERS.queued}`;

const COUNT_ATTEMPT = `
  update turn
  set attempts = attempts + 1
  where task_no = ?1 and turn_no = ?2
  returning turn_no, state, message_id, message_seq, skill, principal, agent_version, attempts, crashes`;

/**
 * Leases a queued run: its row, its turn's attempt, and the events of the start. The caller writes the task row that comes
 * back, whose deadlines are still those of before.
 */
export function grantRun(
  tx: Connection,
  task: Task,
  run: GrantedRun,
  holder: Holder,
  moment: Moment,
): { readonly task: Task; readonly grant: Grant } {
  const fence = (task.fence + 1) as Fence;
  const leased = tx.run(LEASE_RUN, run.no, holder.workerNo, fence, moment.at);
  assert(leased === 1, 'a run that is granted was queued');
  const turn = countAttempt(tx, task.no, run.turnNo);
  const prepared = prepareEvents(grantEvents(task, { ...run, workerId: holder.workerId }));
  const events = writeEvents(tx, prepared, { taskNo: task.no, headSeq: task.headSeq, at: moment.at });
  const granted: Task = { ...events.reduce(foldTask, task), fence, emitNo: 0 };
  const grant = newGrant(granted, { run, workerNo: holder.workerNo }, { runNo: run.no, turn, events });
  return { task: granted, grant };
}

function countAttempt(tx: Connection, taskNo: TaskNo, turnNo: TurnNo): Turn {
  const row = tx.change<TurnRow>(COUNT_ATTEMPT, taskNo, turnNo);
  assert(row !== undefined, 'a run has a turn');
  return decodeTurn(row);
}
