import type { Scope } from '../../model/scope.ts';
import type { MemoryHit, MemoryStore } from '../memory-contract.ts';
import { COMMON_MEMORIES_MIN, COMMON_SHARE, COUNTS_ANYWHERE, QUERY_WORDS_MAX } from '../memory-rank.ts';
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

/** Characters that a query may have. */
const QUERY_CHARS_MAX = 4 * 1024;

/**
 * Memories that hold any of the words, best first, as `memory-rank.ts` says. The query is taken apart by the same parser
 * as the texts, and each word is quoted, so nothing in it is an operator.
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
      select m.no, w.word, ts_rank(m.words, w.word, 1) as part
      from word w
      join ${memory} m on m.words @@ ($2::tsquery && w.word)
      where m.agent = $3 and m.scope = $4),
    total as (
      select count(*) as memories
      from ${memory} m
      where m.words @@ $2::tsquery and m.agent = $3 and m.scope = $4),
    counted as (
      select h.word, max(h.part) as best, ln(1 + t.memories::float8 / count(*)) ^ 2 as weight,
        count(*) > greatest(${COMMON_MEMORIES_MIN}, t.memories * ${COMMON_SHARE}) as is_common
      from hit h
      cross join total t
      group by h.word, t.memories),
    rarer as (
      select coalesce(bool_or(not is_common), false) as is_there
      from counted),
    ranked as (
      select h.no, sum(c.weight * case
        when c.is_common and r.is_there then 1
        else ${COUNTS_ANYWHERE} + ${1 - COUNTS_ANYWHERE} * h.part / c.best end) as rank
      from hit h
      join counted c on c.word = h.word
      cross join rarer r
      group by h.no, r.is_there
      having bool_or(not c.is_common) or not r.is_there
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
