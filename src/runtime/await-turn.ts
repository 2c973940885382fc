import { limits } from '../base/limits.ts';
import type { StoredEvent } from '../model/event.ts';
import type { Seq, TaskNo, TurnNo } from '../model/ids.ts';
import { isInterrupted } from '../model/task.ts';
import { eventBytes } from './event-bytes.ts';
import { endsTask, LogReader } from './feed.ts';
import type { Hub } from './hub.ts';
import type { Patience } from './patience.ts';
import type { FeedItem, RuntimeParts } from './ports.ts';

export interface AwaitParts extends Pick<RuntimeParts, 'store'> {
  readonly hub: Hub;
  /** How long a send may wait. */
  readonly patience: Patience;
}

/** Events that are kept to make the answer of a send without reading the task again; a longer or larger turn is read. */
const EVENTS_KEPT_MAX = 64;
const BYTES_KEPT_MAX = limits.largeTaskBytes;

/**
 * Resolves when the turn of a message is over or interrupted, the task has ended or is gone, the server stops, or the
 * wait has taken as long as a send may. It follows the log from the message on and reads nothing else. Gives every event
 * after the message when the task ended and they are few, so that the task as it stands can be folded; nothing otherwise.
 */
export async function awaitTurn(
  parts: AwaitParts,
  at: { readonly taskNo: TaskNo; readonly turnNo: TurnNo; readonly after: Seq },
  signal: AbortSignal,
): Promise<readonly StoredEvent[] | undefined> {
  if (signal.aborted) return undefined;
  const follower = parts.hub.attach(at.taskNo);
  const watch = new TurnWatch(at.turnNo);
  const log = new LogReader(parts.store, follower, at);
  const kept = new KeptEvents();
  let isLate = false;
  const end = parts.patience.begin(() => {
    isLate = true;
    follower.wake();
  });
  try {
    while (!signal.aborted && !isLate) {
      const events = eventsOf(await log.next(signal));
      kept.add(events);
      // The end of a turn and the end of its task are one commit, so they come together.
      if (!log.isOver && !watch.isOverAfter(events)) continue;
      const last = events.at(-1);
      return last !== undefined && endsTask(last) ? kept.all : undefined;
    }
    return undefined;
  } finally {
    end();
    follower.detach();
  }
}

/** What came since a message, until it is too much to have in hand for each who waits. */
class KeptEvents {
  #events: StoredEvent[] | undefined = [];
  #bytes = 0;

  /** Undefined once anything is missing. */
  get all(): readonly StoredEvent[] | undefined {
    return this.#events;
  }

  add(events: readonly StoredEvent[]): void {
    if (this.#events === undefined) return;
    this.#bytes += events.reduce((bytes, event) => bytes + eventBytes(event), 0);
    const count = this.#events.length + events.length;
    if (count > EVENTS_KEPT_MAX || this.#bytes > BYTES_KEPT_MAX) this.#events = undefined;
    else this.#events.push(...events);
  }
}

function eventsOf(items: readonly FeedItem[]): readonly StoredEvent[] {
  const events: StoredEvent[] = [];
  for (const item of items) if (item.kind === 'event') events.push(item.event);
  return events;
}

/**
 * Tells from the events after a message when its turn is over.
 *
 * An interrupted status belongs to the turn whose run was last seen. Before any run was seen it belongs to this message
 * only if it follows it directly, in its own commit: an answer that did not fit, and the question again. What a run of
 * an earlier turn asks while this message is queued is not this message's end.
 */
export class TurnWatch {
  readonly #turnNo: TurnNo;
  #current: TurnNo | 'this-message' | 'another' = 'this-message';

  constructor(turnNo: TurnNo) {
    this.#turnNo = turnNo;
  }

  /** Looks at every event; the last word is said by any of them. */
  isOverAfter(events: readonly StoredEvent[]): boolean {
    let isOver = false;
    for (const event of events) if (this.isOverAt(event)) isOver = true;
    return isOver;
  }

  isOverAt(event: StoredEvent): boolean {
    switch (event.kind) {
      case 'status-changed':
        if (endsTask(event) || (isInterrupted(event.state) && this.#isCurrent())) return true;
        this.#leaveMessage();
        return false;
      case 'run-started':
        this.#current = event.turnNo;
        return false;
      case 'run-settled':
        this.#current = event.turnNo;
        // Other outcomes end the task with it, or are followed by the turn's next run.
        return event.turnNo === this.#turnNo && (event.outcome === 'succeeded' || event.outcome === 'interrupted');
      case 'artifact-updated':
        if (event.origin === 'output') this.#leaveMessage();
        return false;
      // What a newer version wrote says nothing that this one could go by.
      case 'unknown':
        return false;
      default:
        this.#leaveMessage();
        return false;
    }
  }

  #isCurrent(): boolean {
    return this.#current === 'this-message' || this.#current === this.#turnNo;
  }

  #leaveMessage(): void {
    if (this.#current === 'this-message') this.#current = 'another';
  }
}
