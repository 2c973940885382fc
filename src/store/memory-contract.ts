import type { Brand } from '../base/brand.ts';
import type { Instant } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { Scope } from '../model/scope.ts';

export type MemoryId = Brand<string, 'MemoryId'>;

/** One remembered passage of one scope, of an agent that keeps a memory. */
export interface Memory {
  readonly id: MemoryId;
  readonly text: string;
  /** Where it came from: a file name, a url, a task. */
  readonly source?: string;
  readonly metadata?: JsonObject;
  readonly createdAt: Instant;
}

export interface NewMemory {
  readonly id: MemoryId;
  readonly text: string;
  readonly source?: string;
  readonly metadata?: JsonObject;
}

export type MemoryWrite =
  /** One that is known under the id is replaced; its grants stay. */
  | { readonly kind: 'remember'; readonly memory: NewMemory }
  /** One that is not there is forgotten already. */
  | { readonly kind: 'forget'; readonly id: MemoryId }
  /** Lets another scope read one memory; writing it twice is one grant. A memory that is not there cannot be granted: none of the batch is written. */
  | { readonly kind: 'grant'; readonly id: MemoryId; readonly to: Scope };

/** A memory that matched, best first; `rank` is comparable within one answer only. */
export interface MemoryHit {
  readonly memory: Memory;
  readonly rank: number;
}

export interface MemoryQuery {
  readonly itemsMax: number;
  readonly source?: string;
  readonly before?: MemoryId;
}

/** Full-text memory of one agent in one scope. */
export interface MemoryStore {
  /** All of the writes or none. */
  write(writes: readonly MemoryWrite[]): Promise<void>;
  /**
   * Passages that hold words of the query (any of them; rarer and more ones first, see `memory-rank.ts`), whatever their
   * case and their English endings. An odd query finds nothing; it never fails.
   */
  search(query: { readonly text: string; readonly itemsMax: number }): Promise<readonly MemoryHit[]>;
  read(id: MemoryId): Promise<Memory | undefined>;
  /** Newest first. `before`: those behind this one; none when it is not there. */
  list(query: MemoryQuery): Promise<readonly Memory[]>;
  /** Scopes that may read it. */
  grantsOf(id: MemoryId): Promise<readonly Scope[]>;
}
