import { OVER } from '../base/abort-over.ts';
import type { Clock } from '../base/clock.ts';

/** How long a run stays alone. What killed its process twice mostly does so soon; a run of hours must not hold up everybody. */
const ALONE_MS = 30_000;

interface Entry<Run> {
  readonly run: Run;
  readonly wantsAlone: boolean;
}

/**
 * When granted runs begin, so that one which wants to be alone takes no other along when it kills its process.
 *
 * It begins when nothing else executes here, and until it is over, or 30 s have passed, nothing else begins. It waits for
 * others no longer than that either: then it begins beside them. Runs begin in the order in which they were granted, so
 * neither kind keeps the other waiting for ever.
 */
export class StartOrder<Run extends object> {
  readonly #clock: Clock;
  readonly #begin: (run: Run) => void;
  /** Told when what holds others up is over. */
  readonly #opened: () => void;
  #waiting: Entry<Run>[] = [];
  readonly #executing = new Set<Run>();
  /** The run that is alone for now. */
  #alone: Run | undefined;
  /** Ends the time of the run that is alone, or of the first in line that would be. */
  #patience: AbortController | undefined;
  #isPatienceOver = false;

  constructor(clock: Clock, on: { readonly begin: (run: Run) => void; readonly opened: () => void }) {
    this.#clock = clock;
    this.#begin = on.begin;
    this.#opened = on.opened;
  }

  /** A run is alone, or waits for its turn: no other is to be granted here. */
  get isExclusive(): boolean {
    return this.#alone !== undefined || this.#waiting.length > 0;
  }

  /** Begins the run as soon as it may. */
  add(run: Run, wantsAlone: boolean): void {
    this.#change(() => this.#waiting.push({ run, wantsAlone }));
  }

  /** The run has been told its end, so it calls no handler: it need not wait. */
  hurry(run: Run): void {
    const place = this.#waiting.findIndex((entry) => entry.run === run);
    if (place === -1) return;
    this.#change(() => {
      if (place === 0) this.#endPatience();
      this.#waiting.splice(place, 1);
      this.#executing.add(run);
      this.#begin(run);
    });
  }

  /** The run can do no more. */
  ended(run: Run): void {
    this.#change(() => {
      this.#executing.delete(run);
      if (this.#alone === run) this.#join();
    });
  }

  #change(change: () => void): void {
    const wasExclusive = this.isExclusive;
    change();
    this.#proceed();
    if (wasExclusive && !this.isExclusive) this.#opened();
  }

  #proceed(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#mayBegin(next); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#endPatience();
      this.#executing.add(next.run);
      if (next.wantsAlone) this.#keepAlone(next.run);
      this.#begin(next.run);
    }
    if (this.#waiting[0]?.wantsAlone === true && this.#alone === undefined) this.#startPatience(() => {});
  }

  #mayBegin({ wantsAlone }: Entry<Run>): boolean {
    if (this.#alone !== undefined) return false;
    return !wantsAlone || this.#executing.size === 0 || this.#isPatienceOver;
  }

  #keepAlone(run: Run): void {
    this.#alone = run;
    this.#startPatience(() => this.#join());
  }

  /** Others may begin beside the run that was alone. */
  #join(): void {
    this.#alone = undefined;
    this.#endPatience();
  }

  #startPatience(over: () => void): void {
    if (this.#patience !== undefined) return;
    const patience = new AbortController();
    this.#patience = patience;
    this.#clock.sleep(ALONE_MS, patience.signal).then(
      () => {
        this.#isPatienceOver = true;
        this.#change(over);
      },
      () => {},
    );
  }

  #endPatience(): void {
    this.#patience?.abort(OVER);
    this.#patience = undefined;
    this.#isPatienceOver = false;
  }
}
