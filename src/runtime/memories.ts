import type { Memories, MemoryPassage } from '../agent/turn.ts';
import { limits } from '../base/limits.ts';
import type { NewId } from '../base/unique-id.ts';
import { checkKey } from '../model/ids.ts';
import type { Scope } from '../model/scope.ts';
import type { Memory, MemoryId, MemoryStore, MemoryWrite } from '../store/memory-contract.ts';

const RECALL_DEFAULT = 10;

/**
 * The memory of an agent in the caller's scope, as its handler uses it. `write` decides when a write counts: a reply
 * collects them to commit with its answer, a task writes at once (inside a step, if it is not to happen twice).
 */
export function createMemories(source: {
  readonly store: MemoryStore;
  readonly newId: NewId;
  readonly write: (write: MemoryWrite) => Promise<void>;
}): Memories {
  const { store, write } = source;
  return {
    async remember({ id: given, ...memory }) {
      if (given !== undefined) checkKey(given, 'memories.remember(id)');
      const id = (given ?? source.newId()) as MemoryId;
      await write({ kind: 'remember', memory: { id, ...memory } });
      return { id };
    },
    async recall(query, options = {}) {
      const hits = await store.search({ text: query, itemsMax: itemsMax(options.max, RECALL_DEFAULT) });
      return hits.map(({ memory, rank }) => ({ ...passageOf(memory), rank }));
    },
    async read(id) {
      const memory = await store.read(id as MemoryId);
      return memory === undefined ? undefined : passageOf(memory);
    },
    async list(options = {}) {
      const memories = await store.list({
        itemsMax: itemsMax(options.max, limits.pageItemsDefault),
        ...(options.source === undefined ? {} : { source: options.source }),
        ...(options.before === undefined ? {} : { before: options.before as MemoryId }),
      });
      return memories.map(passageOf);
    },
    forget: (id) => write({ kind: 'forget', id: id as MemoryId }),
    async grant(id, to) {
      checkKey(to, 'memories.grant(to)');
      await write({ kind: 'grant', id: id as MemoryId, to: to as Scope });
    },
  };
}

function itemsMax(wanted: number | undefined, usual: number): number {
  return Math.max(1, Math.min(wanted ?? usual, limits.pageItemsMax));
}

function passageOf({ createdAt, ...memory }: Memory): MemoryPassage {
  return { ...memory, createdAt: new Date(createdAt) };
}
