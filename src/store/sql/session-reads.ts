import type { Dialect, SqlValue, Statement } from './dialect.ts';
import type { Place } from './task-reads.ts';

const SESSION_COLUMNS = 'no, agent, context_id, thread_id, created_at';

export function selectSession(d: Dialect, place: Place, contextId: string): Statement {
  const text = `select ${SESSION_COLUMNS}
    from ${d.table('session')}
    where agent = ${d.param(1)} and scope = ${d.param(2)} and context_id = ${d.param(3)}`;
  return { text, values: [place.agent, place.scope, contextId] };
}

/** Leaves a session that is there as it is; `now` null asks the database's clock. */
export function insertSession(
  d: Dialect,
  place: Place,
  session: { readonly contextId: string; readonly threadId: string; readonly now: number | null },
): Statement {
  const text = `insert into ${d.table('session')} (agent, scope, context_id, thread_id, created_at)
    values (${d.param(1)}, ${d.param(2)}, ${d.param(3)}, ${d.param(4)}, ${d.moment(5)})
    on conflict (agent, scope, context_id) do nothing`;
  return { text, values: [place.agent, place.scope, session.contextId, session.threadId, session.now] };
}

/** Newest first, one row more than a page. Rides on `session_list`. */
export function selectSessionPage(
  d: Dialect,
  place: Place,
  query: { readonly pageItems: number; readonly after?: number },
): Statement {
  const values: SqlValue[] = [place.agent, place.scope, query.pageItems + 1];
  if (query.after !== undefined) values.push(query.after);
  const text = `select ${SESSION_COLUMNS}
    from ${d.table('session')}
    where agent = ${d.param(1)} and scope = ${d.param(2)}${query.after === undefined ? '' : ` and no < ${d.param(4)}`}${d.inListing('no')}
    order by no desc
    limit ${d.param(3)}`;
  return { text, values };
}

/** One row with the column `items`. */
export function countSessions(d: Dialect): Statement {
  return { text: `select count(*) as items from ${d.table('session')}`, values: [] };
}

/** The column `value`. */
export function selectSessionState(d: Dialect, sessionNo: number, key: string): Statement {
  const text = `select value
    from ${d.table('session_state')}
    where session_no = ${d.param(1)} and key = ${d.param(2)}`;
  return { text, values: [sessionNo, key] };
}

export function putSessionState(
  d: Dialect,
  sessionNo: number,
  entry: { readonly key: string; readonly value: string },
): Statement {
  const text = `insert into ${d.table('session_state')} (session_no, key, value)
    values (${d.param(1)}, ${d.param(2)}, ${d.param(3)})
    on conflict (session_no, key) do update set value = excluded.value`;
  return { text, values: [sessionNo, entry.key, entry.value] };
}

export function deleteSessionState(d: Dialect, sessionNo: number, key: string): Statement {
  const text = `delete from ${d.table('session_state')}
    where session_no = ${d.param(1)} and key = ${d.param(2)}`;
  return { text, values: [sessionNo, key] };
}
