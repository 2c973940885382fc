import { assert } from '../../base/assert.ts';
import type { TaskNo } from '../../model/ids.ts';
import { TASK_STATE_NUMBERS, type Task } from '../../model/task.ts';
import type { Deadlines } from '../deadline.ts';
import { sqliteDialect } from '../sql/dialect.ts';
import { DEADLINE_KIND_NUMBERS, decodeTask, type TaskRow } from '../sql/row-codec.ts';
import { selectTaskByNo } from '../sql/task-reads.ts';
import type { Connection } from './connection.ts';

const SELECT_TASK = selectTaskByNo(sqliteDialect, 0).text;

export function readTaskRow(db: Connection, taskNo: TaskNo): Task | undefined {
  const row = db.one<TaskRow>(SELECT_TASK, taskNo);
  return row === undefined ? undefined : decodeTask(row);
}

/** The row with other deadlines. */
export function withDeadlines(task: Task, deadlines: Deadlines): Task {
  const { deadline: _deadline, totalAt: _totalAt, ...rest } = task;
  return { ...rest, ...deadlines };
}

const INSERT_TASK = `
  insert into task (id, agent, scope, session_no, created_at, trace, metadata,
    state, state_at, status_seq, head_seq, head_at, generation, turn_no, fence, emit_no,
    cancel_at, cancel_by, deadline_at, deadline_kind, total_at, ended_at)
  values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)`;

/** Returns the number that the row was given; the one in `task` is not looked at. */
export function insertTask(tx: Connection, task: Task): TaskNo {
  const { id, agent, scope, sessionNo, createdAt, trace = null } = task;
  const metadata = task.metadata === undefined ? null : JSON.stringify(task.metadata);
  return tx.insert(
    INSERT_TASK,
    id,
    agent,
    scope,
    sessionNo,
    createdAt,
    trace,
    metadata,
    ...foldedValues(task),
  ) as TaskNo;
}

/** Only where the row is still the one that the change was worked out from. */
const UPDATE_TASK = `
  update task
  set state = ?5, state_at = ?6, status_seq = ?7, head_seq = ?8, head_at = ?9, generation = ?10, turn_no = ?11,
    fence = ?12, emit_no = ?13, cancel_at = ?14, cancel_by = ?15, deadline_at = ?16, deadline_kind = ?17,
    total_at = ?18, ended_at = ?19
  where no = ?1 and head_seq = ?2 and fence = ?3 and emit_no = ?4`;

export function updateTask(tx: Connection, before: Task, after: Task): void {
  const changed = tx.run(UPDATE_TASK, before.no, before.headSeq, before.fence, before.emitNo, ...foldedValues(after));
  assert(changed === 1, 'a task row that was read in a transaction is still there in it');
}

/** What events, grants and deadlines move, in the order of the two statements above. */
function foldedValues(task: Task): (string | number | null)[] {
  return [
    TASK_STATE_NUMBERS[task.state],
    task.stateAt,
    task.statusSeq,
    task.headSeq,
    task.headAt,
    task.generation,
    task.turnNo,
    task.fence,
    task.emitNo,
    task.cancelAt ?? null,
    task.cancelBy ?? null,
    task.deadline?.at ?? null,
    task.deadline === undefined ? null : DEADLINE_KIND_NUMBERS[task.deadline.kind],
    task.totalAt ?? null,
    task.endedAt ?? null,
  ];
}
