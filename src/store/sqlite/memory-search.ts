import type { MemoryHit } from '../memory-contract.ts';
import { MEMORY_COLUMNS } from '../sql/memory-reads.ts';
import { decodeMemory, type MemoryRow } from '../sql/row-codec.ts';
import type { Place } from '../sql/task-reads.ts';
import type { Connection } from './connection.ts';
import { ownerWord } from './memory-writes.ts';

/** More words make a query slower and no better. */
const WORDS_MAX = 64;
/** Longer ones are no words of a language. */
const WORD_CHARS_MAX = 256;
/** What the tokenizer takes for a part of a word. */
const WORD = /[\p{L}\p{N}\p{M}\p{Co}]+/gu;

/** \`bm25\` is the better the smaller it is; the owner's word is in every row that is looked at and weighs nothing. */
const SEARCH = `
  select ${MEMORY_COLUMNS}, -bm25(memory_text, 0.0, 1.0) as rank
  from memory_text
  join memory m on m.no = memory_text.rowid
  where memory_text match ?1 and m.agent = ?2 and m.scope = ?3
  order by bm25(memory_text, 0.0, 1.0), m.no desc
  limit ?4`;

export function searchMemories(
  db: Connection,
  place: Place,
  query: { readonly text: string; readonly itemsMax: number },
): readonly MemoryHit[] {
  const words = wordsOf(query.text);
  if (words.length === 0) return [];
  const match = `owner : "${ownerWord(place)}" AND body : (${words.map((word) => `"${word}"`).join(' OR ')})`;
  const rows = db.all<MemoryRow & { readonly rank: number }>(SEARCH, match, place.agent, place.scope, query.itemsMax);
  return rows.map((row) => ({ memory: decodeMemory(row), rank: row.rank }));
}

/** Quoted letters and digits are words to FTS5 and never operators. */
function wordsOf(text: string): readonly string[] {
  const words = new Set<string>();
  for (const [word] of text.matchAll(WORD)) {
    if (word.length <= WORD_CHARS_MAX) words.add(word.toLowerCase());
    if (words.size === WORDS_MAX) break;
  }
  return [...words];
}
