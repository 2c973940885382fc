import type { MemoryQuery } from '../memory-contract.ts';
import type { Dialect, SqlValue, Statement } from './dialect.ts';
import type { Place } from './task-reads.ts';

export const MEMORY_COLUMNS = 'm.id, m.body, m.source, m.metadata, m.created_at';

export function selectMemory(d: Dialect, place: Place, id: string): Statement {
  const text = `select ${MEMORY_COLUMNS}
    from ${d.table('memory')} m
    where m.agent = ${d.param(1)} and m.scope = ${d.param(2)} and m.id = ${d.param(3)}`;
  return { text, values: [place.agent, place.scope, id] };
}

/** Newest first. Rides on `memory_list`. */
export function selectMemories(d: Dialect, place: Place, query: MemoryQuery): Statement {
  const values: SqlValue[] = [place.agent, place.scope, query.itemsMax];
  const conditions = [`m.agent = ${d.param(1)}`, `m.scope = ${d.param(2)}`];
  if (query.source !== undefined) {
    values.push(query.source);
    conditions.push(`m.source = ${d.param(values.length)}`);
  }
  if (query.before !== undefined) {
    values.push(query.before);
    conditions.push(`(m.created_at, m.no) < (
      select created_at, no
      from ${d.table('memory')}
      where agent = ${d.param(1)} and scope = ${d.param(2)} and id = ${d.param(values.length)})`);
  }
  const text = `select ${MEMORY_COLUMNS}
    from ${d.table('memory')} m
    where ${conditions.join(' and ')}${d.inListing('m.no')}
    order by m.created_at desc, m.no desc
    limit ${d.param(3)}`;
  return { text, values };
}

/** The column `scope`: who may read a memory, in the order of their names. */
export function selectMemoryGrants(d: Dialect, place: Place, id: string): Statement {
  const text = `select g.scope
    from ${d.table('memory_grant')} g
    join ${d.table('memory')} m on m.no = g.memory_no
    where m.agent = ${d.param(1)} and m.scope = ${d.param(2)} and m.id = ${d.param(3)}
    order by g.scope`;
  return { text, values: [place.agent, place.scope, id] };
}

/** Writing a grant twice is one grant; of a memory that is not there it is none. */
export function insertMemoryGrant(
  d: Dialect,
  place: Place,
  grant: { readonly id: string; readonly to: string },
): Statement {
  const text = `insert into ${d.table('memory_grant')} (memory_no, scope)
    select m.no, ${d.param(4)}
    from ${d.table('memory')} m
    where m.agent = ${d.param(1)} and m.scope = ${d.param(2)} and m.id = ${d.param(3)}
    on conflict (memory_no, scope) do nothing`;
  return { text, values: [place.agent, place.scope, grant.id, grant.to] };
}
