import { TASK_STATE_NUMBERS } from '../../model/task.ts';
import type { OperatorTaskQuery, TaskQuery } from '../contract.ts';
import type { Dialect, SqlValue, Statement } from './dialect.ts';

/** Agent and scope: the two columns that a scoped statement always compares. */
export interface Place {
  readonly agent: string;
  readonly scope: string;
}

/** Columns of a `TaskRow`, from `task t` and `session s`. */
export const TASK_COLUMNS = `t.no, t.id, t.agent, t.scope, t.session_no, s.context_id, s.thread_id,
    t.state, t.state_at, t.status_seq, t.head_seq, t.head_at, t.generation, t.created_at, t.turn_no, t.fence, t.emit_no,
    t.cancel_at, t.cancel_by, t.deadline_at, t.deadline_kind, t.total_at, t.ended_at, t.trace, t.metadata`;

export function selectTaskById(d: Dialect, place: Place, taskId: string): Statement {
  const text = `select ${TASK_COLUMNS}
    from ${d.table('task')} t
    join ${d.table('session')} s on s.no = t.session_no
    where t.id = ${d.param(1)} and t.agent = ${d.param(2)} and t.scope = ${d.param(3)}`;
  return { text, values: [taskId, place.agent, place.scope] };
}

export function selectTaskByNo(d: Dialect, taskNo: number): Statement {
  const text = `select ${TASK_COLUMNS}
    from ${d.table('task')} t
    join ${d.table('session')} s on s.no = t.session_no
    where t.no = ${d.param(1)}`;
  return { text, values: [taskNo] };
}

/** The row number of a task of this place: what a scoped read of the task's other rows begins with. */
export function selectTaskNo(d: Dialect, place: Place, taskId: string): Statement {
  const text = `select no
    from ${d.table('task')}
    where id = ${d.param(1)} and agent = ${d.param(2)} and scope = ${d.param(3)}`;
  return { text, values: [taskId, place.agent, place.scope] };
}

/** One row more than a page, which says whether rows follow. Rides on `task_list`, with a context on `task_of_session`. */
export function selectTaskPage(d: Dialect, place: Place, query: TaskQuery): Statement {
  const filter = taskFilter(d, place, query);
  const { values } = filter;
  const conditions = [...filter.conditions];
  if (query.after !== undefined) {
    values.push(query.after.stateAt, query.after.no);
    conditions.push(`(t.state_at, t.no) < (${d.param(values.length - 1)}, ${d.param(values.length)})`);
  }
  values.push(query.pageItems + 1);
  const text = `select ${TASK_COLUMNS}
    from ${d.table('task')} t
    join ${d.table('session')} s on s.no = t.session_no
    where ${conditions.join(' and ')}${d.inListing('t.no')}
    order by t.state_at desc, t.no desc
    limit ${d.param(values.length)}`;
  return { text, values };
}

/** One row with the column `items`. */
export function countTasks(d: Dialect, place: Place, query: Omit<TaskQuery, 'pageItems' | 'after'>): Statement {
  const { conditions, values } = taskFilter(d, place, query);
  const text = `select count(*) as items
    from ${d.table('task')} t
    where ${conditions.join(' and ')}${d.inListing('t.no')}`;
  return { text, values };
}

function taskFilter(
  d: Dialect,
  place: Place,
  query: Omit<TaskQuery, 'pageItems' | 'after'>,
): { conditions: string[]; values: SqlValue[] } {
  const values: SqlValue[] = [place.agent, place.scope];
  const conditions = [`t.agent = ${d.param(1)}`, `t.scope = ${d.param(2)}`];
  if (query.contextId !== undefined) {
    values.push(query.contextId);
    conditions.push(`t.session_no = (
      select no
      from ${d.table('session')}
      where agent = ${d.param(1)} and scope = ${d.param(2)} and context_id = ${d.param(values.length)})`);
  }
  if (query.state !== undefined) {
    values.push(TASK_STATE_NUMBERS[query.state]);
    conditions.push(`t.state = ${d.param(values.length)}`);
  }
  if (query.stateAtFrom !== undefined) {
    values.push(query.stateAtFrom);
    conditions.push(`t.state_at >= ${d.param(values.length)}`);
  }
  return { conditions, values };
}

/** Rows of every agent and scope. Rides on the primary key, backwards. */
export function selectNewestTasks(d: Dialect, query: OperatorTaskQuery): Statement {
  const values: SqlValue[] = [query.itemsMax];
  const conditions = ['t.no > 0'];
  if (query.state !== undefined) {
    values.push(TASK_STATE_NUMBERS[query.state]);
    conditions.push(`t.state = ${d.param(values.length)}`);
  }
  if (query.agent !== undefined) {
    values.push(query.agent);
    conditions.push(`t.agent = ${d.param(values.length)}`);
  }
  const text = `select ${TASK_COLUMNS}
    from ${d.table('task')} t
    join ${d.table('session')} s on s.no = t.session_no
    where ${conditions.join(' and ')}
    order by t.no desc
    limit ${d.param(1)}`;
  return { text, values };
}

/** Columns `state` and `items`: tasks by state. */
export function countTasksByState(d: Dialect): Statement {
  return { text: `select state, count(*) as items from ${d.table('task')} group by state`, values: [] };
}

/** One row with the column `items`: events of all tasks. Seqs have no gaps, so heads add up to it. */
export function countEvents(d: Dialect): Statement {
  return { text: `select coalesce(sum(head_seq), 0) as items from ${d.table('task')}`, values: [] };
}
