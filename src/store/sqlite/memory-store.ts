import type { Scope } from '../../model/scope.ts';
import type { Memory, MemoryHit, MemoryId, MemoryQuery, MemoryStore, MemoryWrite } from '../memory-contract.ts';
import { sqliteDialect as d } from '../sql/dialect.ts';
import { selectMemories, selectMemory, selectMemoryGrants } from '../sql/memory-reads.ts';
import { decodeMemory, type MemoryRow } from '../sql/row-codec.ts';
import type { Place } from '../sql/task-reads.ts';
import type { Access } from './access.ts';
import { searchMemories } from './memory-search.ts';
import { writeMemories } from './memory-writes.ts';

export class SqliteMemoryStore implements MemoryStore {
  readonly #access: Access;
  readonly #place: Place;

  constructor(access: Access, place: Place) {
    this.#access = access;
    this.#place = place;
  }

  write(writes: readonly MemoryWrite[]): Promise<void> {
    return this.#access.write(memoryBytes(writes), (tx, now) => writeMemories(tx, this.#place, writes, now));
  }

  search(query: { readonly text: string; readonly itemsMax: number }): Promise<readonly MemoryHit[]> {
    return this.#access.read((db) => searchMemories(db, this.#place, query));
  }

  read(id: MemoryId): Promise<Memory | undefined> {
    return this.#access.read((db) => {
      const row = db.readOne<MemoryRow>(selectMemory(d, this.#place, id));
      return row === undefined ? undefined : decodeMemory(row);
    });
  }

  list(query: MemoryQuery): Promise<readonly Memory[]> {
    return this.#access.read((db) => db.readAll<MemoryRow>(selectMemories(d, this.#place, query)).map(decodeMemory));
  }

  grantsOf(id: MemoryId): Promise<readonly Scope[]> {
    return this.#access.read((db) => {
      const rows = db.readAll<{ scope: string }>(selectMemoryGrants(d, this.#place, id));
      return rows.map(({ scope }) => scope as Scope);
    });
  }
}

/** About what the writes take, their index of words included. */
export function memoryBytes(writes: readonly MemoryWrite[]): number {
  return writes.reduce((bytes, write) => bytes + (write.kind === 'remember' ? 2 * write.memory.text.length : 100), 0);
}
