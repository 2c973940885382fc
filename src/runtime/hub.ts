import { limits } from '../base/limits.ts';
import type { StoredEvent } from '../model/event.ts';
import type { Seq, TaskNo } from '../model/ids.ts';
import { eventBytes } from './event-bytes.ts';
import { EventRing, type RingBounds } from './event-ring.ts';
import type { CommitHub } from './ports.ts';

/**
 * The commits of this process, told to the followers in it. Each followed task has one ring that all its followers
 * share; a follower keeps a place and nothing else, so one that never reads costs nobody anything.
 */
export interface Hub extends CommitHub {
  /** Becomes a follower of the task. Attach before reading the store: what is committed from here on wakes it. */
  attach(taskNo: TaskNo): Follower;
  /** Followers that wait, for the poll: each task once, with the place of whoever is furthest behind. */
  waiting(): readonly { readonly taskNo: TaskNo; readonly seq: Seq }[];
  /** The store holds events up to `headSeq`; whoever has less reads it. */
  hint(taskNo: TaskNo, headSeq: Seq): void;
  /** The server stops: every follower, now and later, is told to go away. */
  close(): void;
  /** Followers, and the tasks and bytes that are kept for them. */
  counts(): { readonly followers: number; readonly rings: number; readonly bytes: number };
}

export interface Follower {
  /** Events right after `after` from the ring; undefined when they do not stand there. */
  take(after: Seq, bounds: RingBounds): readonly StoredEvent[] | undefined;
  /** The newest seq that this process has heard of. */
  readonly headSeq: Seq;
  readonly state: 'open' | 'gone' | 'going-away';
  /** A large event that the ring had no room for, while somebody holds it: another follower, or its writer a moment ago. */
  inHand(seq: Seq): StoredEvent | undefined;
  /** Events that were read from the store; a large one is given as the object that other followers hold already. */
  share(events: readonly StoredEvent[]): readonly StoredEvent[];
  /** Resolves when there may be more than `after`, the state changes, or the signal fires. */
  wait(after: Seq, signal: AbortSignal): Promise<void>;
  /** Ends the wait that is under way, if one is. */
  wake(): void;
  detach(): void;
}

export interface HubOptions {
  /** Sees every event of this process after its commit. */
  readonly observe?: (events: readonly StoredEvent[]) => void;
  readonly runnable?: () => void;
  readonly ring?: RingBounds;
}

const RING: RingBounds = { eventsMax: limits.ringEventsMax, bytesMax: limits.ringBytesMax };

export function createHub(options: HubOptions = {}): Hub {
  return new ProcessHub(options);
}

/** From here on one object for all is worth a look-up. */
const LARGE_EVENT_BYTES = 64 * 1024;

class Channel {
  readonly taskNo: TaskNo;
  /** Large events that some follower may hold: too large for the ring, and for a copy each. */
  readonly large = new Map<Seq, WeakRef<StoredEvent>>();
  readonly ring = new EventRing();
  readonly followers = new Set<ChannelFollower>();
  headSeq = 0 as Seq;
  isGone = false;

  constructor(taskNo: TaskNo) {
    this.taskNo = taskNo;
  }

  wake(): void {
    for (const follower of this.followers) follower.wake();
  }

  /** The one object for a large event, as long as somebody holds it; small ones as they are. */
  shared(event: StoredEvent): StoredEvent {
    if (eventBytes(event) < LARGE_EVENT_BYTES) return event;
    const known = this.large.get(event.seq)?.deref();
    if (known !== undefined) return known;
    for (const [seq, kept] of this.large) if (kept.deref() === undefined) this.large.delete(seq);
    this.large.set(event.seq, new WeakRef(event));
    return event;
  }
}

class ProcessHub implements Hub {
  readonly #options: HubOptions;
  readonly #channels = new Map<TaskNo, Channel>();
  /** Channels without followers, the longest idle first. */
  readonly #idle = new Map<TaskNo, Channel>();
  #bytes = 0;
  #idleBytes = 0;
  isClosed = false;

  constructor(options: HubOptions) {
    this.#options = options;
  }

  publish(taskNo: TaskNo, events: readonly StoredEvent[]): void {
    this.#options.observe?.(events);
    const channel = this.#channels.get(taskNo) ?? this.#openFor(taskNo, events);
    if (channel === undefined) return;
    this.#resize(channel, () => channel.ring.add(events, this.#bounds()));
    for (const event of events) if (!channel.ring.holds(event.seq)) channel.shared(event);
    channel.headSeq = Math.max(channel.headSeq, channel.ring.newest) as Seq;
    channel.wake();
    if (channel.followers.size === 0) this.#rest(channel);
  }

  publishGone(taskNo: TaskNo): void {
    const channel = this.#channels.get(taskNo);
    if (channel === undefined) return;
    channel.isGone = true;
    channel.wake();
    if (channel.followers.size === 0) this.#forget(channel);
  }

  runnable(): void {
    this.#options.runnable?.();
  }

  attach(taskNo: TaskNo): Follower {
    const channel = this.#channels.get(taskNo) ?? new Channel(taskNo);
    this.#channels.set(taskNo, channel);
    if (this.#idle.delete(taskNo)) this.#idleBytes -= channel.ring.bytes;
    const follower = new ChannelFollower(this, channel);
    channel.followers.add(follower);
    return follower;
  }

  detach(channel: Channel, follower: ChannelFollower): void {
    if (!channel.followers.delete(follower) || channel.followers.size > 0) return;
    if (channel.isGone || channel.ring.bytes === 0) this.#forget(channel);
    else this.#rest(channel);
  }

  waiting(): readonly { readonly taskNo: TaskNo; readonly seq: Seq }[] {
    const waiting: { taskNo: TaskNo; seq: Seq }[] = [];
    for (const channel of this.#channels.values()) {
      let seq: Seq | undefined;
      for (const follower of channel.followers) {
        if (follower.waitsAfter === undefined) continue;
        seq = Math.min(seq ?? Number.POSITIVE_INFINITY, follower.waitsAfter) as Seq;
      }
      if (seq !== undefined) waiting.push({ taskNo: channel.taskNo, seq });
    }
    return waiting;
  }

  hint(taskNo: TaskNo, headSeq: Seq): void {
    const channel = this.#channels.get(taskNo);
    if (channel === undefined || headSeq <= channel.headSeq) return;
    channel.headSeq = headSeq;
    channel.wake();
  }

  close(): void {
    this.isClosed = true;
    for (const channel of this.#channels.values()) channel.wake();
  }

  counts(): { readonly followers: number; readonly rings: number; readonly bytes: number } {
    let followers = 0;
    for (const channel of this.#channels.values()) followers += channel.followers.size;
    return { followers, rings: this.#channels.size, bytes: this.#bytes };
  }

  /** A message that this process has just taken will be followed by whoever sent it; its ring is there before they are. */
  #openFor(taskNo: TaskNo, events: readonly StoredEvent[]): Channel | undefined {
    const kind = events[0]?.kind;
    if (this.isClosed || (kind !== 'task-created' && kind !== 'message-received')) return undefined;
    const channel = new Channel(taskNo);
    this.#channels.set(taskNo, channel);
    return channel;
  }

  #bounds(): RingBounds {
    const { eventsMax, bytesMax } = this.#options.ring ?? RING;
    if (this.#bytes <= limits.ringsBytesMax) return { eventsMax, bytesMax };
    return { eventsMax, bytesMax: Math.min(bytesMax, Math.floor(limits.ringsBytesMax / this.#channels.size)) };
  }

  #resize(channel: Channel, change: () => void): void {
    const before = channel.ring.bytes;
    change();
    const grown = channel.ring.bytes - before;
    this.#bytes += grown;
    if (this.#idle.has(channel.taskNo)) this.#idleBytes += grown;
  }

  /** Keeps a ring that nobody follows for a while; the longest idle ones make room. */
  #rest(channel: Channel): void {
    if (this.#idle.delete(channel.taskNo)) this.#idleBytes -= channel.ring.bytes;
    this.#idle.set(channel.taskNo, channel);
    this.#idleBytes += channel.ring.bytes;
    while (this.#idle.size > limits.idleRingsMax || this.#idleBytes > limits.idleRingsBytesMax) {
      const [oldest] = this.#idle.values();
      if (oldest === undefined) return;
      this.#forget(oldest);
    }
  }

  #forget(channel: Channel): void {
    this.#bytes -= channel.ring.bytes;
    if (this.#idle.delete(channel.taskNo)) this.#idleBytes -= channel.ring.bytes;
    if (this.#channels.get(channel.taskNo) === channel) this.#channels.delete(channel.taskNo);
  }
}

class ChannelFollower implements Follower {
  readonly #hub: ProcessHub;
  readonly #channel: Channel;
  #resolve: (() => void) | undefined;
  /** The place it waits at; undefined while its reader is busy. */
  waitsAfter: Seq | undefined;

  constructor(hub: ProcessHub, channel: Channel) {
    this.#hub = hub;
    this.#channel = channel;
  }

  get headSeq(): Seq {
    return this.#channel.headSeq;
  }

  get state(): 'open' | 'gone' | 'going-away' {
    if (this.#channel.isGone) return 'gone';
    return this.#hub.isClosed ? 'going-away' : 'open';
  }

  take(after: Seq, bounds: RingBounds): readonly StoredEvent[] | undefined {
    return this.#channel.ring.take(after, bounds);
  }

  inHand(seq: Seq): StoredEvent | undefined {
    return this.#channel.large.get(seq)?.deref();
  }

  share(events: readonly StoredEvent[]): readonly StoredEvent[] {
    return events.map((event) => this.#channel.shared(event));
  }

  wake(): void {
    this.#resolve?.();
  }

  wait(after: Seq, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.state !== 'open' || this.#channel.headSeq > after) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        this.#resolve = undefined;
        this.waitsAfter = undefined;
        resolve();
      };
      this.#resolve = done;
      this.waitsAfter = after;
      signal.addEventListener('abort', done, { once: true });
    });
  }

  detach(): void {
    this.#hub.detach(this.#channel, this);
  }
}
