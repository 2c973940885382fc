import { createHash } from 'node:crypto';
import { unreachable } from '../../base/assert.ts';
import type { Scope } from '../../model/scope.ts';
import type { MemoryId, MemoryWrite, NewMemory } from '../memory-contract.ts';
import type { Dialect } from '../sql/dialect.ts';
import type { Place } from '../sql/task-reads.ts';
import { withStems } from '../stem.ts';
import type { Statement } from './database.ts';
import { moment, Parameters } from './parameters.ts';

/** Writes memories in order, all in the transaction of the caller, and only where `guard` holds at that moment. */
export function writeMemories(
  d: Dialect,
  place: Place,
  writes: readonly MemoryWrite[],
  context: { readonly now: number | null; readonly guard: (p: Parameters) => string },
): Statement[] {
  return writes.map((write) => {
    switch (write.kind) {
      case 'remember':
        return putMemory(d, place, write.memory, context);
      case 'forget':
        return deleteMemory(d, place, write.id, context.guard);
      case 'grant':
        return putGrant(d, place, write, context.guard);
      default:
        return unreachable(write);
    }
  });
}

/** A memory under an id that is known replaces it and keeps its grants. */
function putMemory(
  d: Dialect,
  place: Place,
  memory: NewMemory,
  context: { readonly now: number | null; readonly guard: (p: Parameters) => string },
): Statement {
  const p = new Parameters();
  const text = `insert into ${d.table('memory')} (agent, scope, id, body, source, metadata, created_at, words)
    select ${p.add(place.agent, 'text')}, ${p.add(place.scope, 'text')}, ${p.add(memory.id, 'text')}, ${p.add(memory.text, 'text')},
      ${p.add(memory.source ?? null, 'text')}, ${p.add(memory.metadata === undefined ? null : JSON.stringify(memory.metadata), 'text')},
      ${moment(d, p, context.now)},
      to_tsvector('simple', ${p.add(wordsOf(memory.text), 'text')}) || array_to_tsvector(array[${p.add(ownerWord(place), 'text')}])
    where ${context.guard(p)}
    on conflict (agent, scope, id) do update
    set body = excluded.body, source = excluded.source, metadata = excluded.metadata, created_at = excluded.created_at,
      words = excluded.words`;
  return { text, values: p.values };
}

function deleteMemory(d: Dialect, place: Place, id: MemoryId, guard: (p: Parameters) => string): Statement {
  const p = new Parameters();
  const text = `delete from ${d.table('memory')} m
    where ${isMemory(p, place, id)} and ${guard(p)}`;
  return { text, values: p.values };
}

/** A grant of a memory that is not there fails: `memory_no` may not be null, and that is what it finds. */
function putGrant(
  d: Dialect,
  place: Place,
  write: { readonly id: MemoryId; readonly to: Scope },
  guard: (p: Parameters) => string,
): Statement {
  const p = new Parameters();
  const text = `insert into ${d.table('memory_grant')} (memory_no, scope)
    select (select m.no from ${d.table('memory')} m where ${isMemory(p, place, write.id)}), ${p.add(write.to, 'text')}
    where ${guard(p)}
    on conflict (memory_no, scope) do nothing`;
  return { text, values: p.values };
}

function isMemory(p: Parameters, place: Place, id: MemoryId): string {
  return `m.agent = ${p.add(place.agent)} and m.scope = ${p.add(place.scope)} and m.id = ${p.add(id)}`;
}

/** Characters of a text that are searched. A tsvector holds 1 MiB, and a character may take four bytes. */
const WORDS_CHARS_MAX = 128 * 1024;

/** A text as the word parser takes it, its words as they are compared. */
export function wordsOf(text: string): string {
  return withStems(text.slice(0, WORDS_CHARS_MAX).toWellFormed().replaceAll('\u0000', ' '));
}

/**
 * A word that every memory of one agent and scope has, and that no text has by chance: with it a search walks its own
 * scope's part of the index and not everybody's.
 */
export function ownerWord(place: Place): string {
  return createHash('sha256')
    .update(JSON.stringify([place.agent, place.scope]))
    .digest('base64');
}
