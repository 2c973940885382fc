import type { Scope } from '../../model/scope.ts';
import type { MemoryHit, MemoryStore } from '../memory-contract.ts';
import { MEMORY_COLUMNS, selectMemories, selectMemory, selectMemoryGrants } from '../sql/memory-reads.ts';
import { decodeMemory, type MemoryRow } from '../sql/row-codec.ts';
import type { Place } from '../sql/task-reads.ts';
import type { Statement } from './database.ts';
import { ownerWord, wordsOf, writeMemories } from './memory-rows.ts';
import { nowOf, type PostgresContext } from './postgres-context.ts';

/** `MemoryStore` of one agent in one scope. */
export function openMemories(context: PostgresContext, place: Place): MemoryStore {
  const { d, database } = context;
  return {
    async write(writes) {
      const always = { now: nowOf(context), guard: () => 'true' };
      if (writes.length > 0) await database.write(writeMemories(d, place, writes, always), { repeatable: true });
    },
    async search({ text, itemsMax }) {
      const [rows] = await database.read([selectHits(context, place, { text, itemsMax })]);
      return (rows ?? []).map((row): MemoryHit => {
        return { memory: decodeMemory(row as unknown as MemoryRow), rank: row.rank as number };
      });
    },
    async read(id) {
      const [rows] = await database.read([selectMemory(d, place, id)]);
      const row = rows?.[0] as MemoryRow | undefined;
      return row === undefined ? undefined : decodeMemory(row);
    },
    async list(query) {
      const [rows] = await database.read([selectMemories(d, place, query)]);
      return (rows ?? []).map((row) => decodeMemory(row as unknown as MemoryRow));
    },
    async grantsOf(id) {
      const [rows] = await database.read([selectMemoryGrants(d, place, id)]);
      return (rows ?? []).map((row) => row.scope as Scope);
    },
  };
}

/** Words of a query that are searched for, and characters it may have. */
const QUERY_WORDS_MAX = 64;
const QUERY_CHARS_MAX = 4 * 1024;

/**
 * Memories that hold any of the words, best first. Every word counts by how rare it is among the memories of the scope and by its part
 * of the passage; what one memory gathers from all its words is its rank. The query is taken apart by the same parser as the texts,
 * and each word is quoted, so nothing in it is an operator.
 */
function selectHits(
  { d }: PostgresContext,
  place: Place,
  query: { readonly text: string; readonly itemsMax: number },
): Statement {
  const memory = d.table('memory');
  const text = `with word as (
      select ('''' || replace(replace(w.word, '\\', '\\\\'), '''', '''''') || '''')::tsquery as word
      from unnest(tsvector_to_array(to_tsvector('simple', $1))) as w (word)
      limit ${QUERY_WORDS_MAX}),
    hit as (
      select m.no, ts_rank(m.words, w.word, 1) as part, count(*) over (partition by w.word) as memories
      from word w
      join ${memory} m on m.words @@ ($2::tsquery && w.word)
      where m.agent = $3 and m.scope = $4),
    total as (select count(distinct no) as memories from hit),
    ranked as (
      select h.no, sum(h.part * ln(1 + t.memories::float8 / h.memories)) as rank
      from hit h
      cross join total t
      group by h.no
      order by rank desc, h.no desc
      limit $5)
    select ${MEMORY_COLUMNS}, r.rank
    from ranked r
    join ${memory} m on m.no = r.no
    order by r.rank desc, m.no desc`;
  const owner = `'${ownerWord(place)}'`;
  return {
    text,
    values: [wordsOf(query.text).slice(0, QUERY_CHARS_MAX), owner, place.agent, place.scope, query.itemsMax],
  };
}
