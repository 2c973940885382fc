import { CodedError } from '../../base/errors.ts';
import { TASK_STATE_NUMBERS } from '../../model/task.ts';
import type { Grant } from '../contract.ts';
import type { Statement } from './database.ts';
import { isTask, type TaskPlaceKey } from './moved-task.ts';
import { Parameters } from './parameters.ts';
import type { PostgresContext } from './postgres-context.ts';

/** The columns that conditions stand on. */
export interface GuardRow {
  readonly no: number;
  readonly state: number;
  readonly head_seq: number;
  readonly fence: number;
  readonly emit_no: number;
}

/** Why a write did not go through: the row as it is now; undefined when the task is gone. */
export async function readGuards(context: PostgresContext, key: TaskPlaceKey): Promise<GuardRow | undefined> {
  const [rows] = await context.database.read([selectGuards(context, key)]);
  return rows?.[0] as GuardRow | undefined;
}

function selectGuards({ d }: PostgresContext, key: TaskPlaceKey): Statement {
  const p = new Parameters();
  const text = `select t.no, t.state, t.head_seq, t.fence, t.emit_no
    from ${d.table('task')} t
    where ${isTask(p, key)}`;
  return { text, values: p.values };
}

/** Whether a run may still write: its grant is the newest, the task works, and it has emitted what it says. */
export function holds(row: GuardRow, grant: Grant, emitNo: number): boolean {
  return row.fence === grant.fence && row.state === TASK_STATE_NUMBERS.working && row.emit_no === emitNo;
}

export function leaseLost(grant: Grant): CodedError {
  return new CodedError('lease_lost', {
    message: `Run ${grant.runId} does not hold task ${grant.taskId} any more.`,
  });
}
