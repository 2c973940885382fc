import type { NewEvent } from '../model/event.ts';
import type { BlobNo } from '../model/ids.ts';
import type { JournalWrite } from '../model/task-write.ts';
import type { Fact } from './contract.ts';

/** The facts of a batch by the rows they become; each list in the order of the batch. */
export interface FactPlan {
  readonly events: readonly NewEvent[];
  readonly journal: readonly JournalWrite[];
  /** The last write of each key; undefined deletes it. */
  readonly sessionState: ReadonlyMap<string, string | undefined>;
  readonly blobs: readonly BlobNo[];
}

/** Sorts the facts of a batch. Only rows of one kind depend on each other, so their order among themselves is all that counts. */
export function planFacts(facts: readonly Fact[]): FactPlan {
  const events: NewEvent[] = [];
  const journal: JournalWrite[] = [];
  const sessionState = new Map<string, string | undefined>();
  const blobs: BlobNo[] = [];
  for (const fact of facts) {
    if (fact.kind === 'event') {
      events.push(fact.event);
      if (fact.blobs !== undefined) blobs.push(...fact.blobs);
    } else if (fact.kind === 'journal') journal.push(fact.entry);
    else sessionState.set(fact.key, fact.value);
  }
  return { events, journal, sessionState, blobs };
}
