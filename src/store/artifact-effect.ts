import type { ArtifactEntry } from '../model/artifact.ts';
import type { StoredEvent } from '../model/event.ts';
import type { ArtifactId, Seq } from '../model/ids.ts';

/**
 * What an event does to the artifact rows of its task. None of it reads an artifact: a chunk that neither
 * opens nor closes touches no row, so appending costs the same however long the artifact is.
 *
 * `put`: inserts the row, or replaces one with the same id in its place; `keepHeader` says that the event brought no
 * header, so that one that is known stays. `open`: inserts the row where the id is unknown; of a known one only `closedSeq` changes,
 * where the entry has it. `close`: sets `closedSeq`. `discard`: deletes the row; one of the same id that comes later stands last.
 */
export type ArtifactEffect =
  | { readonly kind: 'put'; readonly entry: ArtifactEntry; readonly keepHeader: boolean }
  | { readonly kind: 'open'; readonly entry: ArtifactEntry }
  | { readonly kind: 'close'; readonly artifactId: ArtifactId; readonly closedSeq: Seq }
  | { readonly kind: 'discard'; readonly artifactId: ArtifactId };

/** The effect of one event on the artifact rows, if it has one. */
export function artifactEffect(event: StoredEvent): ArtifactEffect | undefined {
  if (event.kind === 'artifact-discarded') return { kind: 'discard', artifactId: event.artifactId };
  if (event.kind !== 'artifact-updated') return undefined;
  if (event.append && event.header === undefined) {
    return event.lastChunk ? { kind: 'close', artifactId: event.artifactId, closedSeq: event.seq } : undefined;
  }
  const entry = openedEntry(event);
  return event.append ? { kind: 'open', entry } : { kind: 'put', entry, keepHeader: event.header === undefined };
}

/** The row that an update opens. */
export function openedEntry(event: StoredEvent & { readonly kind: 'artifact-updated' }): ArtifactEntry {
  return {
    artifactId: event.artifactId,
    origin: event.origin,
    turnNo: event.turnNo,
    ...(event.runNo === undefined ? {} : { runNo: event.runNo }),
    header: event.header ?? {},
    baseSeq: event.seq,
    ...(event.lastChunk ? { closedSeq: event.seq } : {}),
  };
}
