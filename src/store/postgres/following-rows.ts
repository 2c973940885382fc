import { instant } from '../../base/clock.ts';
import type { NewEvent } from '../../model/event.ts';
import { artifactEffect } from '../artifact-effect.ts';
import type { FactPlan } from '../fact-plan.ts';
import { placeEvents } from '../place-events.ts';
import type { Dialect } from '../sql/dialect.ts';
import { putJournalEntry, takeUpBlobs, writeArtifact, writeSessionState } from './content-rows.ts';
import type { Statement } from './database.ts';
import type { TaskPlaceKey } from './moved-task.ts';

/*
 * Rows that follow from a change of a task: statements that stand behind the one that moved its row, in the same
 * transaction, and write nothing where it did not.
 */

/** The artifact rows that events change. `events` are all that the change has appended. */
export function followEvents(d: Dialect, key: TaskPlaceKey, events: readonly NewEvent[]): Statement[] {
  const unplaced = placeEvents(events, { headSeq: 0, at: instant(0) });
  return unplaced.flatMap((event) => {
    const effect = artifactEffect(event);
    return effect === undefined ? [] : [writeArtifact(d, key, effect, events.length)];
  });
}

/**
 * The journal, session state and blobs of a batch of facts; the state in the order of its keys, so that two tasks of a
 * session that write the same ones wait for each other and do not deadlock. `emitOffset`: where the batch begins, from
 * the emit number after the change.
 */
export function followFacts(
  d: Dialect,
  key: TaskPlaceKey,
  plan: Omit<FactPlan, 'events'>,
  emitOffset: number,
): Statement[] {
  const state = [...plan.sessionState].sort(([one], [other]) => (one < other ? -1 : 1));
  return [
    ...plan.journal.map((entry, index) => putJournalEntry(d, key, entry, emitOffset + index)),
    ...state.map(([stateKey, value]) => writeSessionState(d, key, { key: stateKey, value })),
    ...(plan.blobs.length === 0 ? [] : [takeUpBlobs(d, key, plan.blobs)]),
  ];
}
