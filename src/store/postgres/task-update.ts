import type { Fence, Seq } from '../../model/ids.ts';
import { isTerminal, TASK_STATE_NUMBERS } from '../../model/task.ts';
import type { RowEffect } from '../../model/task-fold.ts';
import type { NewDeadline, TaskWrite } from '../../model/task-write.ts';
import type { Dialect } from '../sql/dialect.ts';
import { DEADLINE_KIND_NUMBERS } from '../sql/row-codec.ts';
import { TASK_COLUMNS } from '../sql/task-reads.ts';
import type { Statement } from './database.ts';
import { type EventList, insertEvents } from './event-rows.ts';
import { isTask, type TaskPlaceKey } from './moved-task.ts';
import { moment, Parameters } from './parameters.ts';

/** What has to be true of the row at the moment of the write. All of it stands in the WHERE of the UPDATE of that very row. */
export interface TaskCondition {
  /** The head that the write was decided on. */
  readonly headSeq?: Seq;
  /** The write is a run's: its grant is the newest and it has emitted this much, and the task works. */
  readonly grant?: { readonly fence: Fence; readonly emitNo: number };
  /** A condition on other rows; never on the fence, which would leak there. */
  readonly and?: (p: Parameters) => string;
}

/** What a change does to the row. Only columns that it owns are set. */
export interface TaskUpdate {
  readonly key: TaskPlaceKey;
  readonly condition: TaskCondition;
  readonly effect: RowEffect;
  readonly list: EventList;
  /** How far the fence grows: once for a revocation, once for a grant. */
  readonly fences: number;
  /** What becomes of the emit number: a grant begins it anew, a run's facts add to it. */
  readonly emit: 'begin' | number;
  readonly deadline: TaskWrite['deadline'];
  /** A run's sign of life; counts where `deadline` keeps the old one, and never puts off the end of a canceled task. */
  readonly signOfLife?: NewDeadline;
  readonly now: number | null;
}

/** A row that a statement moved: the seq before its first event, and the time of them all. */
export interface MovedRow {
  readonly no: number;
  readonly base: number;
  readonly head_seq: number;
  readonly head_at: number;
}

/** The change of one task's row and the events behind it, as one statement. Returns a `MovedRow`, or nothing where the condition did not hold. */
export function updateTask(d: Dialect, update: TaskUpdate): Statement {
  return movingStatement(d, update, { from: '', join: '', columns: 't.no, t.head_seq, t.head_at' });
}

/** As `updateTask`; returns a `TaskRow` with the column `base`. */
export function updateTaskReturning(d: Dialect, update: TaskUpdate): Statement {
  const from = `, ${d.table('session')} s`;
  return movingStatement(d, update, { from, join: ' and s.no = t.session_no', columns: TASK_COLUMNS });
}

function movingStatement(
  d: Dialect,
  update: TaskUpdate,
  answer: { readonly from: string; readonly join: string; readonly columns: string },
): Statement {
  const p = new Parameters();
  const now = moment(d, p, update.now);
  const moved = `update ${d.table('task')} t
    set ${assignments(p, update).join(', ')}
    from moment${answer.from}
    where ${conditions(p, update).join(' and ')}${answer.join}
    returning ${answer.columns}, t.head_seq - ${p.add(update.effect.eventCount, 'int')} as base`;
  const logged = update.list.events.length === 0 ? '' : `, logged as (${insertEvents(d, p, update.list)})`;
  const text = `with moment as materialized (select ${now} as now),
    moved as (${moved})${logged}
    select * from moved`;
  return { text, values: p.values };
}

function conditions(p: Parameters, { key, condition }: TaskUpdate): readonly string[] {
  const { grant } = condition;
  return [
    isTask(p, key),
    ...(condition.headSeq === undefined ? [] : [`t.head_seq = ${p.add(condition.headSeq)}`]),
    ...(grant === undefined
      ? []
      : [
          `t.fence = ${p.add(grant.fence)}`,
          `t.emit_no = ${p.add(grant.emitNo)}`,
          `t.state = ${TASK_STATE_NUMBERS.working}`,
        ]),
    ...(condition.and === undefined ? [] : [condition.and(p)]),
  ];
}

const AT = 'greatest(t.head_at, moment.now)';

function assignments(p: Parameters, update: TaskUpdate): readonly string[] {
  const { effect } = update;
  const sets = [`head_seq = t.head_seq + ${p.add(effect.eventCount)}`];
  if (effect.eventCount > 0) sets.push(`head_at = ${AT}`);
  if (update.emit === 'begin') sets.push('emit_no = 0');
  else if (update.emit > 0) sets.push(`emit_no = t.emit_no + ${p.add(update.emit)}`);
  if (update.fences > 0) sets.push(`fence = t.fence + ${p.add(update.fences)}`);
  if (effect.turnNo !== undefined) sets.push(`turn_no = greatest(t.turn_no, ${p.add(effect.turnNo)})`);
  if (effect.cancelBy !== undefined) sets.push(`cancel_at = ${AT}`, `cancel_by = ${p.add(effect.cancelBy)}`);
  const { status } = effect;
  if (status !== undefined) {
    sets.push(
      `state = ${p.add(TASK_STATE_NUMBERS[status.state])}`,
      `state_at = ${AT}`,
      `status_seq = t.head_seq + ${p.add(status.ordinal)}`,
      `generation = t.generation + ${p.add(effect.statusCount)}`,
    );
    if (isTerminal(status.state)) {
      sets.push(`ended_at = ${AT}`, 'deadline_at = null', 'deadline_kind = null', 'total_at = null');
      return sets;
    }
  }
  sets.push(...deadlineAssignments(p, update));
  return sets;
}

/** `total_at` stays beside whatever deadline there is, and is the deadline where it is nearer. */
function deadlineAssignments(p: Parameters, update: TaskUpdate): readonly string[] {
  const { deadline, signOfLife } = update;
  if (deadline === 'none') {
    const { total } = DEADLINE_KIND_NUMBERS;
    return ['deadline_at = t.total_at', `deadline_kind = case when t.total_at is not null then ${total} end`];
  }
  if (deadline !== undefined && deadline !== 'keep') {
    const nearest = nearestDeadline(p, deadline);
    return [`deadline_at = ${nearest.at}`, `deadline_kind = ${nearest.kind}`];
  }
  if (signOfLife === undefined) return [];
  const nearest = nearestDeadline(p, signOfLife);
  const isCanceling = `t.deadline_kind = ${DEADLINE_KIND_NUMBERS.cancel}`;
  return [
    `deadline_at = case when ${isCanceling} then t.deadline_at else ${nearest.at} end`,
    `deadline_kind = case when ${isCanceling} then t.deadline_kind else ${nearest.kind} end`,
  ];
}

/** The nearer of a new deadline and `total_at`, in terms of `task t` and the CTE `moment`. */
export function nearestDeadline(p: Parameters, deadline: NewDeadline): { readonly at: string; readonly kind: string } {
  const at = `moment.now + ${p.add(deadline.inMs, 'bigint')}`;
  const { [deadline.kind]: kind, total } = DEADLINE_KIND_NUMBERS;
  return { at: `least(t.total_at, ${at})`, kind: `case when t.total_at < ${at} then ${total} else ${kind} end` };
}
