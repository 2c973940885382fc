import { assert } from '../base/assert.ts';
import { limits } from '../base/limits.ts';
import type { StoredEvent } from '../model/event.ts';
import type { Seq, TaskNo } from '../model/ids.ts';
import { isTerminal } from '../model/task.ts';
import type { SystemStore } from '../store/contract.ts';
import { eventBytes } from './event-bytes.ts';
import type { RingBounds } from './event-ring.ts';
import type { Follower, Hub } from './hub.ts';
import type { FeedItem } from './ports.ts';

const BATCH: RingBounds = { eventsMax: limits.eventsPerReadMax, bytesMax: limits.readBytesMax };

/**
 * Every event of a task after `after`, in order and without a gap, until the terminal status. It attaches to the hub
 * before it reads the store, so nothing falls between the two; it takes from the ring where that continues its place
 * and reads the store where not. It pulls: a reader that does not ask holds a place and no events, and one that comes
 * back late finds its events in the store.
 *
 * It ends after the terminal event; when the signal fires; with `gone` when the task is deleted; with `going-away` when the server stops.
 */
export async function* followTask(
  parts: { readonly store: Pick<SystemStore, 'readEvents'>; readonly hub: Hub },
  taskNo: TaskNo,
  from: { readonly after: Seq; readonly signal: AbortSignal },
): AsyncGenerator<readonly FeedItem[], void, undefined> {
  const follower = parts.hub.attach(taskNo);
  try {
    const reader = new LogReader(parts.store, follower, { taskNo, after: from.after });
    while (!from.signal.aborted) {
      const items = await reader.next(from.signal);
      if (items.length > 0 && !from.signal.aborted) yield items;
      if (reader.isOver) return;
    }
  } finally {
    follower.detach();
  }
}

/** A place in one task's log, and the way on from there. Its follower was attached before; who made it detaches it. */
export class LogReader {
  readonly #store: Pick<SystemStore, 'readEvents'>;
  readonly #follower: Follower;
  readonly #taskNo: TaskNo;
  #after: Seq;
  /** Everything that was committed before its last read or take is behind it; the rest wakes it. */
  #isCaughtUp = false;
  isOver = false;

  constructor(
    store: Pick<SystemStore, 'readEvents'>,
    follower: Follower,
    at: { readonly taskNo: TaskNo; readonly after: Seq },
  ) {
    this.#store = store;
    this.#follower = follower;
    this.#taskNo = at.taskNo;
    this.#after = at.after;
  }

  /** The next events, or the word that ends it; empty when it was woken for nothing. */
  async next(signal: AbortSignal): Promise<readonly FeedItem[]> {
    if (this.#follower.state === 'gone') return this.#end('gone');
    const kept = this.#follower.take(this.#after, BATCH);
    if (kept !== undefined) {
      this.#isCaughtUp = true;
      return this.#deliver(kept);
    }
    const large = this.#follower.inHand((this.#after + 1) as Seq);
    if (large !== undefined) return this.#deliver([large]);
    if (this.#follower.state === 'going-away') return this.#end('going-away');
    if (!this.#isCaughtUp || this.#follower.headSeq > this.#after) return await this.#readStore();
    await this.#follower.wait(this.#after, signal);
    return [];
  }

  /**
   * Reads from one event before its place: that one is dropped, but where it is the terminal status the log ends here,
   * which an empty page could not say. It may be so large that the page has room for nothing else; then the next one does.
   */
  async #readStore(): Promise<readonly FeedItem[]> {
    const promised = this.#follower.headSeq;
    const read = await this.#page(Math.max(0, this.#after - 1) as Seq);
    const last = read?.at(-1);
    const isCut = read !== undefined && last?.seq === this.#after && !endsTask(last) && !isShort(read);
    const page = isCut ? await this.#page(this.#after) : read;
    if (page === undefined) return this.#end('gone');
    const fresh = this.#follower.share(page.filter((event) => event.seq > this.#after));
    assert(fresh.length > 0 || promised <= this.#after, 'a commit that was told of can be read');
    if (fresh.length === 0 && last !== undefined && endsTask(last)) this.isOver = true;
    this.#isCaughtUp = isShort(page);
    return this.#deliver(fresh);
  }

  #page(after: Seq): Promise<readonly StoredEvent[] | undefined> {
    return this.#store.readEvents(this.#taskNo, { after, ...BATCH, eventsMax: BATCH.eventsMax + 1 });
  }

  #deliver(events: readonly StoredEvent[]): readonly FeedItem[] {
    let expected = this.#after + 1;
    for (const event of events) {
      assert(event.seq === expected, 'the log has no gaps');
      expected += 1;
    }
    const last = events.at(-1);
    if (last === undefined) return [];
    this.#after = last.seq;
    if (endsTask(last)) this.isOver = true;
    return events.map((event) => ({ kind: 'event', event }));
  }

  #end(kind: 'gone' | 'going-away'): readonly FeedItem[] {
    this.isOver = true;
    return [{ kind }];
  }
}

/**
 * Whether a page was surely not cut by a bound, so that the next wait needs no empty read before it. The store counts
 * escaped text, up to six times what is counted here, hence the distance. A wrong guess would cost one poll, not an event.
 */
function isShort(page: readonly StoredEvent[]): boolean {
  if (page.length > BATCH.eventsMax / 8) return false;
  return page.reduce((bytes, event) => bytes + eventBytes(event), 0) < BATCH.bytesMax / 8;
}

/** The terminal status is the last event of a log. */
export function endsTask(event: StoredEvent): boolean {
  return event.kind === 'status-changed' && isTerminal(event.state);
}
