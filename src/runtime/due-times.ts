import type { Instant } from '../base/clock.ts';

/**
 * The nearest times at which something of the store's falls due, as far as this process knows. A hint like any wakeup:
 * what is forgotten here is found by the next sweep, so the list is short.
 */
export class DueTimes {
  /** Ascending. */
  #times: Instant[] = [];
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** True when it is the nearest now, so that whoever sleeps until the nearest has to look again. */
  add(at: Instant): boolean {
    const place = this.#placeOf(at);
    if (this.#times[place] === at) return false;
    this.#times.splice(place, 0, at);
    if (this.#times.length > this.#max) this.#times.pop();
    return place === 0;
  }

  get nearest(): Instant | undefined {
    return this.#times[0];
  }

  /** Forgets what is due by `now`. */
  passed(now: Instant): void {
    const open = this.#times.findIndex((at) => at > now);
    this.#times.splice(0, open < 0 ? this.#times.length : open);
  }

  #placeOf(at: Instant): number {
    let low = 0;
    let high = this.#times.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#times[middle] as Instant) < at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
