import { OVER } from '../base/abort-over.ts';
import type { Clock } from '../base/clock.ts';

interface Wait {
  readonly dueMs: number;
  readonly late: () => void;
}

/**
 * Many waits that may each take equally long. They fall due in the order in which they began, so one timer, that of the
 * oldest, is enough for all of them, and it runs on when its wait has ended: to start and stop one costs a short send
 * more than to wake for nothing now and then.
 */
export class Patience {
  readonly #clock: Clock;
  readonly #durationMs: number;
  readonly #waits = new Set<Wait>();
  #timer: AbortController | undefined;

  constructor(clock: Clock, durationMs: number) {
    this.#clock = clock;
    this.#durationMs = durationMs;
  }

  /** Calls `late` when the wait has taken as long as it may, unless what it returns is called before. */
  begin(late: () => void): () => void {
    const wait = { dueMs: this.#clock.monotonicMs() + this.#durationMs, late };
    this.#waits.add(wait);
    if (this.#timer === undefined) this.#start();
    return () => void this.#waits.delete(wait);
  }

  /** Nobody waits here any more, and nobody will. */
  stop(): void {
    this.#timer?.abort(OVER);
  }

  #start(): void {
    const timer = new AbortController();
    this.#timer = timer;
    this.#run(timer.signal).catch(() => 'stopped');
  }

  /** A wait that ended while it was slept for leaves its place to the oldest that is left, which is due no earlier. */
  async #run(signal: AbortSignal): Promise<void> {
    for (const wait of this.#waits) {
      await this.#clock.sleep(Math.max(0, wait.dueMs - this.#clock.monotonicMs()), signal);
      if (this.#waits.delete(wait)) wait.late();
    }
    this.#timer = undefined;
  }
}
