import { OVER } from '../base/abort-over.ts';
import type { Clock } from '../base/clock.ts';

interface Wait {
  readonly dueMs: number;
  readonly late: () => void;
}

/**
 * Many waits that may each take equally long. They fall due in the order in which they began, so one timer, that of the
 * oldest, is enough for all of them: a timer for each would cost a short send more than its answer.
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
    return () => this.#end(wait);
  }

  #end(wait: Wait): void {
    this.#waits.delete(wait);
    if (this.#waits.size > 0) return;
    this.#timer?.abort(OVER);
    this.#timer = undefined;
  }

  #start(): void {
    const timer = new AbortController();
    this.#timer = timer;
    this.#run(timer).catch(() => 'nobody waits any more');
  }

  async #run(timer: AbortController): Promise<void> {
    for (const wait of this.#waits) {
      await this.#clock.sleep(Math.max(0, wait.dueMs - this.#clock.monotonicMs()), timer.signal);
      if (this.#waits.delete(wait)) wait.late();
    }
    if (this.#timer === timer) this.#timer = undefined;
  }
}
