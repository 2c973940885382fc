/** Thrown inside the runtime when a run has ended under a call; the handler never sees it. */
export class RunEnded extends Error {
  override readonly name = 'RunEnded';
}

/**
 * Where a run stands, and what its handler still waits for.
 *
 *   live      the handler's calls work
 *   draining  a drain has fired the signal: a step that was paid for is still recorded, everything else is inert
 *   ended     parked, settled, canceled or fenced: nothing the handler does is written, its calls never settle
 *
 * It also tells when a handler can do no more: once the run has ended, a handler that waits for one of its turn's
 * calls waits for ever, and holds nothing but memory that the collector takes.
 */
export class RunPhase {
  #phase: 'live' | 'draining' | 'ended' = 'live';
  /** Work that ends by itself: steps, short sleeps, writes. A turn parks only when there is none. */
  #openWork = 0;
  /** Calls that the handler may be waiting for, suspensions among them. */
  #pendingCalls = 0;
  #isHandlerSettled = false;
  readonly #watchers = new Set<() => void>();

  get isLive(): boolean {
    return this.#phase === 'live';
  }

  get mayRecord(): boolean {
    return this.#phase !== 'ended';
  }

  get openWork(): number {
    return this.#openWork;
  }

  /** The handler has settled; or it waits for a call that never will, and none of its steps is at work. */
  get isHandlerIdle(): boolean {
    if (this.#isHandlerSettled) return true;
    return this.#phase !== 'live' && this.#pendingCalls > 0 && this.#openWork === 0;
  }

  handlerSettled(): void {
    this.#isHandlerSettled = true;
    this.#notify();
  }

  drain(): void {
    if (this.#phase === 'live') this.#phase = 'draining';
    this.#notify();
  }

  end(): void {
    this.#phase = 'ended';
    this.#notify();
  }

  /** Runs a call of the handler's: while the run lives it settles like `work`, afterwards never. */
  call<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#track(work, 1);
  }

  /** The same, but it does not keep the turn from parking: when it ends may depend on the suspension itself. */
  wait<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#track(work, 0);
  }

  /** The promise of a suspension, or of any call after the end. */
  never<Result>(): Promise<Result> {
    this.#pendingCalls += 1;
    this.#notify();
    return new Promise<Result>(() => {});
  }

  /** Resolves when `isReached` holds; it is asked whenever something here changes. */
  until(isReached: () => boolean): Promise<void> {
    if (isReached()) return Promise.resolve();
    return new Promise((resolve) => {
      const watcher = (): void => {
        if (!isReached()) return;
        this.#watchers.delete(watcher);
        resolve();
      };
      this.#watchers.add(watcher);
    });
  }

  #track<Result>(work: () => Promise<Result>, weight: 0 | 1): Promise<Result> {
    if (!this.isLive) return this.never();
    this.#openWork += weight;
    this.#pendingCalls += 1;
    const leave = (settle: () => void): void => {
      this.#openWork -= weight;
      if (this.isLive) {
        this.#pendingCalls -= 1;
        settle();
      }
      this.#notify();
    };
    const called = new Promise<Result>((resolve, reject) => {
      started(work).then(
        (value) => leave(() => resolve(value)),
        (error: unknown) => leave(() => reject(error)),
      );
    });
    // An error that the handler does not wait for must not end the process; one it waits for it gets all the same.
    called.catch(() => {});
    return called;
  }

  #notify(): void {
    if (this.#watchers.size === 0) return;
    for (const watcher of [...this.#watchers]) watcher();
  }
}

/** What throws before its first await rejects like everything after it. */
function started<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}
