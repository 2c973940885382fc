import type { StoredEvent } from '../model/event.ts';
import type { RunId, Seq } from '../model/ids.ts';
import { isTerminal, type Task, type TaskState } from '../model/task.ts';
import type { FeedItem } from '../runtime/ports.ts';
import type { Call, StreamItem } from './operations.ts';
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
 * Follows a task from a place in its log, in batches as the feed gives them; one ends after an event whose blob was read,
 * so that a stream holds one blob at a time. Ends after the status that ends it, after `going-away` or `gone`, or when the
 * caller's signal fires. Every event passes; a binding leaves out what it does not show.
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
      let items: StreamItem[] = [];
      for (const item of batch) {
        const isHeavy = item.kind === 'event' && holdsBlob(item.event);
        const taken = isHeavy ? { ...item, event: await parts.runtime.resolveEvent(item.event) } : item;
        const runId = taken.kind === 'event' ? runIds.of(taken.event) : undefined;
        items.push(streamItem(taken, place.task, runId instanceof Promise ? await runId : runId));
        const isOver = endsStream(item, place);
        if (isHeavy || isOver) {
          yield items;
          items = [];
        }
        if (isOver) return;
      }
      if (items.length > 0) yield items;
    }
  } finally {
    parts.meter.streams(-1);
  }
}

/** A stream that has nothing more to say than its snapshot. */
export async function* noItems(): AsyncGenerator<readonly StreamItem[]> {}

function endsStream(item: FeedItem, { endsAt }: StreamPlace): boolean {
  if (item.kind !== 'event') return true;
  const { event } = item;
  return event.kind === 'status-changed' && (isTerminal(event.state) || endsAt(event.state));
}

function streamItem(item: FeedItem, task: Task, runId: RunId | undefined): StreamItem {
  if (item.kind !== 'event') return item;
  return { kind: 'event', event: item.event, task, ...(runId === undefined ? {} : { runId }) };
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
