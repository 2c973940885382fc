import type { AgentName, TaskId, TaskNo } from '../../model/ids.ts';
import type { Scope } from '../../model/scope.ts';
import type { Dialect } from '../sql/dialect.ts';
import type { Statement } from './database.ts';
import type { Parameters } from './parameters.ts';

/** How a statement finds its task: by number, or by id within one agent and scope. */
export type TaskPlaceKey =
  | { readonly taskNo: TaskNo }
  | { readonly taskId: TaskId; readonly agent: AgentName; readonly scope: Scope };

/** The condition on `task t` that finds it. */
export function isTask(p: Parameters, key: TaskPlaceKey): string {
  if ('taskNo' in key) return `t.no = ${p.add(key.taskNo)}`;
  return `t.id = ${p.add(key.taskId)} and t.agent = ${p.add(key.agent)} and t.scope = ${p.add(key.scope)}`;
}

/**
 * True of a row (by its alias) that this transaction wrote: `xmin` is the transaction that made this version of it.
 *
 * The fenced write of a task is the one UPDATE of its row, with all its conditions. The rows that follow from it are written behind it
 * in the same transaction and ask only whether it went through, so the conditions stand in one place.
 */
export function isWrittenHere(alias: string): string {
  return `${alias}.xmin = pg_current_xact_id_if_assigned()::xid`;
}

/** `task t`, if this transaction has moved it. */
export function movedTask(d: Dialect, p: Parameters, key: TaskPlaceKey): string {
  return `${d.table('task')} t where ${isTask(p, key)} and ${isWrittenHere('t')}`;
}

/**
 * A change of rows that has to hit exactly so many, or the transaction fails as a whole: the division by zero is how
 * a statement says so without a round trip. Where the task was not moved there is nothing to hit and nothing to say.
 */
export function expecting(
  d: Dialect,
  p: Parameters,
  key: TaskPlaceKey,
  change: { readonly count: number; readonly text: string },
): Statement {
  const text = `with hit as (${change.text} returning 1)
    select 1 / ((select count(*) from hit) = ${p.add(change.count)})::int as hit
    from ${movedTask(d, p, key)}`;
  return { text, values: p.values };
}
