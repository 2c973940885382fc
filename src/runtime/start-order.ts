import { OVER } from '../base/abort-over.ts';
import type { Clock } from '../base/clock.ts';

/** How long a run stays alone. What killed its process twice mostly does so soon; a run of hours must not hold up everybody. */
const ALONE_MS = 30_000;

/**
 * When granted runs begin, so that one which is to be alone takes no other along when it kills its process.
 *
 * It begins when nothing else executes here, and until it is over, or 30 s have passed, nothing else begins. It waits for
 * others no longer than that either, nor than half of its idle time, which runs meanwhile: then it begins beside them.
 * What was granted meanwhile all the same, by the same claim for instance, is refused: another node may have room for
 * it, and here it is claimed again in its turn.
 */
export class StartOrder<Run extends object> {
  readonly #clock: Clock;
  readonly #waitMs: number;
  readonly #begin: (run: Run) => void;
  /** Told when others may begin again. */
  readonly #opened: () => void;
  readonly #executing = new Set<Run>();
  /** The run that waits until it is alone, or is alone for now. */
  #exclusive: { readonly run: Run; readonly phase: 'waits' | 'alone'; readonly patience: AbortController } | undefined;

  /** `idleMaxMs`: how long a run may stay silent; 0 for ever. */
  constructor(
    parts: { readonly clock: Clock; readonly idleMaxMs: number },
    on: { readonly begin: (run: Run) => void; readonly opened: () => void },
  ) {
    this.#clock = parts.clock;
    this.#waitMs = parts.idleMaxMs > 0 ? Math.min(ALONE_MS, parts.idleMaxMs / 2) : ALONE_MS;
    this.#begin = on.begin;
    this.#opened = on.opened;
  }

  /** A run is alone, or waits until it is: no other is to be granted here. */
  get isExclusive(): boolean {
    return this.#exclusive !== undefined;
  }

  /** Begins the run as soon as it may; `refused` where another one is in its way. */
  add(run: Run, wantsAlone: boolean): 'taken' | 'refused' {
    if (this.isExclusive) return 'refused';
    if (!wantsAlone) this.#start(run);
    else if (this.#executing.size === 0) this.#startAlone(run);
    else this.#enter('waits', run, () => this.#startAlone(run));
    return 'taken';
  }

  /** The run has been told its end, so it calls no handler: it need not wait. */
  hurry(run: Run): void {
    if (this.#executing.has(run)) return;
    this.#start(run);
    if (this.#exclusive?.run === run) this.#open();
  }

  /** The run can do no more. */
  ended(run: Run): void {
    this.#executing.delete(run);
    const exclusive = this.#exclusive;
    if (exclusive?.run === run) this.#open();
    else if (exclusive?.phase === 'waits' && this.#executing.size === 0) this.#startAlone(exclusive.run);
  }

  #start(run: Run): void {
    this.#executing.add(run);
    this.#begin(run);
  }

  #startAlone(run: Run): void {
    this.#enter('alone', run, () => this.#open());
    this.#start(run);
  }

  #enter(phase: 'waits' | 'alone', run: Run, over: () => void): void {
    this.#exclusive?.patience.abort(OVER);
    const patience = new AbortController();
    this.#exclusive = { run, phase, patience };
    this.#clock.sleep(phase === 'waits' ? this.#waitMs : ALONE_MS, patience.signal).then(
      () => {
        // It may have slept through just when its run ended: then another has its place.
        if (this.#exclusive?.patience === patience) over();
      },
      () => {},
    );
  }

  #open(): void {
    this.#exclusive?.patience.abort(OVER);
    this.#exclusive = undefined;
    this.#opened();
  }
}
