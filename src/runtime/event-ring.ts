import type { StoredEvent } from '../model/event.ts';
import type { Seq } from '../model/ids.ts';
import { eventBytes } from './event-bytes.ts';

export interface RingBounds {
  readonly eventsMax: number;
  readonly bytesMax: number;
}

interface Slot {
  readonly event: StoredEvent;
  readonly bytes: number;
}

/** Given-up places at the front are cut off once there are this many and they are half of the array. */
const CUT_MIN = 32;

/**
 * The newest events of one task, in a row without a hole. A reader is served only where its next event stands in it;
 * everyone else reads the store. What would make a hole, or pass the bounds, is dropped, never kept.
 */
export class EventRing {
  #slots: (Slot | undefined)[] = [];
  #start = 0;
  #bytes = 0;
  #newest = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** The newest event that was ever added. */
  get newest(): Seq {
    return this.#newest as Seq;
  }

  /** Takes what follows the newest event. Older events are known already; after a hole the ring begins anew. */
  add(events: readonly StoredEvent[], bounds: RingBounds): void {
    for (const event of events) {
      if (event.seq <= this.#newest) continue;
      if (event.seq !== this.#newest + 1) this.clear();
      const bytes = eventBytes(event);
      this.#slots.push({ event, bytes });
      this.#bytes += bytes;
      this.#newest = event.seq;
    }
    this.#trim(bounds);
  }

  clear(): void {
    this.#slots = [];
    this.#start = 0;
    this.#bytes = 0;
  }

  holds(seq: Seq): boolean {
    const first = this.#slots[this.#start];
    return first !== undefined && seq >= first.event.seq && seq <= this.#newest;
  }

  /** The events right after `after`, as many as the bounds allow and at least one; undefined when they do not stand here. */
  take(after: Seq, bounds: RingBounds): readonly StoredEvent[] | undefined {
    const first = this.#slots[this.#start];
    if (first === undefined || after + 1 < first.event.seq || after >= this.#newest) return undefined;
    const taken: StoredEvent[] = [];
    let bytes = 0;
    for (let at = this.#start + (after + 1 - first.event.seq); at < this.#slots.length; at += 1) {
      if (taken.length >= bounds.eventsMax || (taken.length > 0 && bytes >= bounds.bytesMax)) break;
      const slot = this.#slots[at] as Slot;
      taken.push(slot.event);
      bytes += slot.bytes;
    }
    return taken;
  }

  #trim(bounds: RingBounds): void {
    let count = this.#slots.length - this.#start;
    while (count > 0 && (count > bounds.eventsMax || this.#bytes > bounds.bytesMax)) {
      this.#bytes -= (this.#slots[this.#start] as Slot).bytes;
      this.#slots[this.#start] = undefined;
      this.#start += 1;
      count -= 1;
    }
    if (this.#start >= CUT_MIN && this.#start * 2 > this.#slots.length) {
      this.#slots = this.#slots.slice(this.#start);
      this.#start = 0;
    }
  }
}
