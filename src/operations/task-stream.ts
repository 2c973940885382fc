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
 * Follows a task from a place in its log, in batches as the feed gives them. Ends after the status that ends it, after
 * `going-away` or `gone`, or when the caller's signal fires. Every event passes; a binding leaves out what it does not
 * show.
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
      for (const item of batch) {
        const runId = item.kind === 'event' ? runIds.of(item.event) : undefined;
        items.push(streamItem(item, place.task, runId instanceof Promise ? await runId : runId));
        if (!endsStream(item, place)) continue;
        yield items;
        return;
      }
      yield items;
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
