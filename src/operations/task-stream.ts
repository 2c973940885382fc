import type { StoredEvent } from '../model/event.ts';
import type { RunId, Seq } from '../model/ids.ts';
import { isTerminal, type Task, type TaskState } from '../model/task.ts';
import type { FeedItem } from '../runtime/ports.ts';
import type { Call, StreamEvent, StreamItem } from './operations.ts';
import { RunIds } from './run-ids.ts';
import type { OperationParts } from './verb.ts';

/** Where a stream begins, and which status ends it. */
export interface StreamPlace {
  readonly task: Task;
  readonly after: Seq;
  /** No run is active at this place: the log begins here, or a message that will begin a run was just taken. */
  readonly startsFresh: boolean;
  readonly endsAt: (state: TaskState) => boolean;
}

export const endsAtTerminalOnly = (): boolean => false;

/**
 * Follows a task from a place in its log, in batches as the feed gives them. Ends after the status that ends it, after
 * `going-away` or `gone`, or when the caller's signal fires. Every event passes; a binding leaves out what it does not show.
 */
export async function* followTask(
  parts: OperationParts,
  call: Call,
  place: StreamPlace,
): AsyncGenerator<readonly StreamItem[]> {
  const runIds = new RunIds(parts, call, place);
  parts.meter.streams(1);
  try {
    for await (const batch of parts.runtime.follow(place.task.no, { after: place.after, signal: call.signal })) {
      const items: StreamItem[] = [];
      const isOver = await take(batch, items, { parts, runIds, place });
      if (items.length > 0) yield items;
      if (isOver) return;
    }
  } finally {
    parts.meter.streams(-1);
  }
}

/** A stream that has nothing more to say than its snapshot. */
export async function* noItems(): AsyncGenerator<readonly StreamItem[]> {}

/** Moves a batch to `items`, up to what ends the stream; true when that was there. */
async function take(
  batch: readonly FeedItem[],
  items: StreamItem[],
  stream: { readonly parts: OperationParts; readonly runIds: RunIds; readonly place: StreamPlace },
): Promise<boolean> {
  const { task, endsAt } = stream.place;
  for (const item of batch) {
    if (item.kind !== 'event') {
      items.push(item);
      return true;
    }
    const ready = item.event;
    const event = holdsBlob(ready) ? await stream.parts.runtime.resolveEvent(ready) : ready;
    const runId = stream.runIds.of(event);
    items.push(streamEvent(event, task, runId instanceof Promise ? await runId : runId));
    if (event.kind === 'status-changed' && (isTerminal(event.state) || endsAt(event.state))) return true;
  }
  return false;
}

function streamEvent(event: StoredEvent, task: Task, runId: RunId | undefined): StreamEvent {
  return { kind: 'event', event, task, ...(runId === undefined ? {} : { runId }) };
}

/** Chunks are the hot path, and nearly none of them holds a blob. */
function holdsBlob(event: StoredEvent): boolean {
  switch (event.kind) {
    case 'artifact-updated':
      return event.parts.some((part) => part.kind === 'blob');
    case 'message-received':
      return event.message.parts.some((part) => part.kind === 'blob');
    case 'status-changed':
      return event.message?.parts.some((part) => part.kind === 'blob') ?? false;
    default:
      return false;
  }
}
