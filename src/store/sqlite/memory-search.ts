import type { MemoryHit } from '../memory-contract.ts';
import { COUNTS_ANYWHERE, isCommon, QUERY_WORDS_MAX, weightOf } from '../memory-rank.ts';
import { MEMORY_COLUMNS } from '../sql/memory-reads.ts';
import { decodeMemory, type MemoryRow } from '../sql/row-codec.ts';
import type { Place } from '../sql/task-reads.ts';
import { stemsOf } from '../stem.ts';
import type { Connection } from './connection.ts';
import { ownerWord } from './memory-writes.ts';

/** Longer ones are no words of a language. */
const WORD_CHARS_MAX = 256;

const COUNT = `
  select count(*) as memories
  from memory_text
  where memory_text match ?1`;

/**
 * \`?1\` holds a match and a weight for each word. \`bm25\` of one word is the better the smaller it is; beside the best
 * of the word it says how much of a memory the word makes up. The owner's word weighs nothing.
 */
const SEARCH = `
  with hit as materialized (
    select memory_text.rowid as no, w.key as word, w.value ->> 'weight' as weight,
      case when w.value ->> 'isWhole' then null else -bm25(memory_text, 0.0, 1.0) end as part
    from json_each(?1) w
    join memory_text on memory_text match (w.value ->> 'match')),
  best as (
    select word, max(part) as part
    from hit
    group by word),
  ranked as (
    select h.no, sum(h.weight * (${COUNTS_ANYWHERE} + ${1 - COUNTS_ANYWHERE} * coalesce(h.part / b.part, 1.0))) as rank
    from hit h
    join best b on b.word = h.word
    group by h.no)
  select ${MEMORY_COLUMNS}, r.rank
  from ranked r
  join memory m on m.no = r.no
  where m.agent = ?2 and m.scope = ?3
  order by r.rank desc, m.no desc
  limit ?4`;

export function searchMemories(
  db: Connection,
  place: Place,
  query: { readonly text: string; readonly itemsMax: number },
): readonly MemoryHit[] {
  const matches = JSON.stringify(matchesOf(db, `owner : "${ownerWord(place)}"`, query.text));
  const rows = db.all<MemoryRow & { readonly rank: number }>(SEARCH, matches, place.agent, place.scope, query.itemsMax);
  return rows.map((row) => ({ memory: decodeMemory(row), rank: row.rank }));
}

interface Match {
  readonly match: string;
  readonly weight: number;
  /** It counts in full wherever it stands. */
  readonly isWhole: boolean;
}

/** A match for each word of the query that a memory holds. Beside rarer words, those that are common look among their hits only. */
function matchesOf(db: Connection, owner: string, text: string): readonly Match[] {
  const count = (match: string): number => db.one<{ memories: number }>(COUNT, match)?.memories ?? 0;
  const all = count(owner);
  const counted = wordsOf(text)
    .map((word) => ({ word, holding: count(`${owner} AND body : "${word}"`), all }))
    .filter(({ holding }) => holding > 0);
  const rarer = counted.filter((word) => !isCommon(word));
  const rarerOnes = ` AND body : (${rarer.map(({ word }) => `"${word}"`).join(' OR ')})`;
  return counted.map((counts) => {
    const isWhole = rarer.length > 0 && isCommon(counts);
    const match = `${owner} AND body : "${counts.word}"${isWhole ? rarerOnes : ''}`;
    return { match, weight: weightOf(counts), isWhole };
  });
}

/** Quoted letters and digits are words to FTS5 and never operators. */
function wordsOf(text: string): readonly string[] {
  const words = new Set<string>();
  for (const word of stemsOf(text)) {
    if (word.length <= WORD_CHARS_MAX) words.add(word);
    if (words.size === QUERY_WORDS_MAX) break;
  }
  return [...words];
}
