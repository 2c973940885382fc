import { type Artifact, type ArtifactEntry, isClosingPart } from '../model/artifact.ts';
import type { StoredEvent } from '../model/event.ts';
import type { Message, Part } from '../model/message.ts';
import type { TaskContent } from '../model/task-fold.ts';

export type SpeechEvent = StoredEvent & { readonly kind: 'message-received' | 'status-changed' };
export type ArtifactEvent = StoredEvent & { readonly kind: 'artifact-updated' };

/**
 * The messages of a task, from all its `message-received` and `status-changed` events in order: the same as `foldContent` gives, in one pass.
 * `historyMax` keeps the newest; undefined keeps all.
 */
export function speechOf(
  events: readonly SpeechEvent[],
  historyMax?: number,
): Pick<TaskContent, 'history' | 'statusMessage' | 'statusPlace'> {
  const history: Message[] = [];
  let status: { readonly message: Message; readonly place: number } | undefined;
  for (const event of events) {
    if (event.kind === 'message-received') history.push(event.message);
    else {
      if (status !== undefined) history.splice(status.place, 0, status.message);
      status = event.message === undefined ? undefined : { message: event.message, place: history.length };
    }
  }
  const kept = historyMax === undefined ? history : history.slice(Math.max(0, history.length - historyMax));
  if (status === undefined) return { history: kept };
  return { history: kept, statusMessage: status.message, statusPlace: status.place };
}

/** An artifact, from its row and its `artifact-updated` events from `baseSeq` on, in order. */
export function artifactOf(entry: ArtifactEntry, events: readonly ArtifactEvent[]): Artifact {
  const parts: Part[] = [];
  for (const event of events) if (!isClosingPart(event)) parts.push(...event.parts);
  return { ...entry, parts };
}
