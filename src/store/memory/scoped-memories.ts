import { assert } from '../../base/assert.ts';
import type { Instant } from '../../base/clock.ts';
import type { Scope } from '../../model/scope.ts';
import type { Memory, MemoryHit, MemoryId, MemoryQuery, MemoryWrite } from '../memory-contract.ts';
import { frozenCopy } from './frozen.ts';
import { WordIndex } from './word-index.ts';

interface MemoryRow {
  readonly memory: Memory;
  readonly grants: Set<Scope>;
}

/** The memories of one agent in one scope. Writes are checked whole and then applied, so that the caller can put more into their transaction. */
export class ScopedMemories {
  /** In the order of their writing. */
  readonly #rows = new Map<MemoryId, MemoryRow>();
  readonly #index = new WordIndex<MemoryId>();

  /** Throws where one of the writes cannot be done after those before it. */
  check(writes: readonly MemoryWrite[]): void {
    const known = new Map<MemoryId, boolean>();
    for (const write of writes) {
      if (write.kind === 'remember') known.set(write.memory.id, true);
      else if (write.kind === 'forget') known.set(write.id, false);
      else assert(known.get(write.id) ?? this.#rows.has(write.id), 'a memory that is granted is there');
    }
  }

  apply(writes: readonly MemoryWrite[], at: Instant): void {
    for (const write of writes) {
      if (write.kind === 'remember') {
        const { id } = write.memory;
        const grants = this.#rows.get(id)?.grants ?? new Set();
        this.#forget(id);
        this.#rows.set(id, { memory: frozenCopy({ ...write.memory, createdAt: at }), grants });
        this.#index.add(id, write.memory.text);
      } else if (write.kind === 'forget') this.#forget(write.id);
      else this.#rows.get(write.id)?.grants.add(write.to);
    }
  }

  read(id: MemoryId): Memory | undefined {
    return this.#rows.get(id)?.memory;
  }

  list({ itemsMax, source, before }: MemoryQuery): readonly Memory[] {
    const newestFirst = [...this.#rows.values()]
      .map(({ memory }) => memory)
      .reverse()
      .sort((a, b) => b.createdAt - a.createdAt);
    const place = before === undefined ? -1 : newestFirst.findIndex(({ id }) => id === before);
    if (before !== undefined && place < 0) return [];
    return newestFirst
      .slice(place + 1)
      .filter((memory) => source === undefined || memory.source === source)
      .slice(0, itemsMax);
  }

  search(query: { readonly text: string; readonly itemsMax: number }): readonly MemoryHit[] {
    return this.#index.search(query.text, query.itemsMax).flatMap(({ key, rank }) => {
      const row = this.#rows.get(key);
      return row === undefined ? [] : [{ memory: row.memory, rank }];
    });
  }

  grantsOf(id: MemoryId): readonly Scope[] {
    return [...(this.#rows.get(id)?.grants ?? [])];
  }

  #forget(id: MemoryId): void {
    if (!this.#rows.delete(id)) return;
    this.#index.remove(id);
  }
}
