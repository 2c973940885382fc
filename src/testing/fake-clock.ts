import type { Clock, Instant } from '../base/clock.ts';
import { instant } from '../base/clock.ts';
import type { Duration } from '../base/duration.ts';
import { durationMs } from '../base/duration.ts';

/** A clock that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /**
   * Moves time forward and wakes every sleep that falls due on the way, in order of its time. After each
   * wake the event loop turns a few times, so that what was woken may work and sleep again within the same
   * advance. Await it: time moves only after what was started before has had its turns.
   */
  advance(by: Duration | number): Promise<void>;
  /** Sets the wall time, backwards too. Like a corrected machine clock it wakes nobody and leaves the steady count. */
  set(epochMs: number): void;
  /** Sleeps in hand. */
  sleeping(): number;
  /** Resolves as soon as `count` sleeps are in hand. */
  untilSleeping(count: number): Promise<void>;
}

interface Sleeper {
  readonly dueMs: number;
  readonly order: number;
  wake(): void;
}

/** 2026-01-01T00:00:00Z, a moment that reads well in a failure. */
const START_MS = 1_767_225_600_000;
/** A chain of a few store calls takes a turn each; more than this and a test should wait for the thing itself. */
const SETTLE_TURNS = 8;

/** A fake clock that starts at `startMs`. */
export function createFakeClock(startMs: number = START_MS): FakeClock {
  return new SteppedClock(startMs);
}

class SteppedClock implements FakeClock {
  #wallMs: number;
  #steadyMs = 0;
  #sleeps = 0;
  readonly #sleepers = new Set<Sleeper>();
  readonly #watchers = new Set<{ readonly count: number; notice(): void }>();

  constructor(startMs: number) {
    this.#wallMs = startMs;
  }

  now(): Instant {
    return instant(this.#wallMs);
  }

  monotonicMs(): number {
    return this.#steadyMs;
  }

  sleep(sleepMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const leave = (): void => {
        this.#sleepers.delete(sleeper);
        signal.removeEventListener('abort', abort);
      };
      const abort = (): void => {
        leave();
        reject(signal.reason);
      };
      const wake = (): void => {
        leave();
        resolve();
      };
      this.#sleeps += 1;
      const sleeper: Sleeper = { dueMs: this.#steadyMs + Math.max(0, sleepMs), order: this.#sleeps, wake };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', abort, { once: true });
      for (const watcher of this.#watchers) if (this.#sleepers.size >= watcher.count) watcher.notice();
    });
  }

  async advance(by: Duration | number): Promise<void> {
    await turnEventLoop();
    const untilMs = this.#steadyMs + (typeof by === 'number' ? by : durationMs(by));
    for (let due = this.#nextDue(untilMs); due !== undefined; due = this.#nextDue(untilMs)) {
      this.#moveTo(due.dueMs);
      due.wake();
      await turnEventLoop();
    }
    this.#moveTo(untilMs);
  }

  set(epochMs: number): void {
    this.#wallMs = epochMs;
  }

  sleeping(): number {
    return this.#sleepers.size;
  }

  untilSleeping(count: number): Promise<void> {
    if (this.#sleepers.size >= count) return Promise.resolve();
    return new Promise((resolve) => {
      const watcher = {
        count,
        notice: (): void => {
          this.#watchers.delete(watcher);
          resolve();
        },
      };
      this.#watchers.add(watcher);
    });
  }

  /** Never backwards: another advance may have passed this moment while the event loop turned. */
  #moveTo(steadyMs: number): void {
    const stepMs = Math.max(0, steadyMs - this.#steadyMs);
    this.#wallMs += stepMs;
    this.#steadyMs += stepMs;
  }

  #nextDue(untilMs: number): Sleeper | undefined {
    let next: Sleeper | undefined;
    for (const sleeper of this.#sleepers) if (sleeper.dueMs <= untilMs && isBefore(sleeper, next)) next = sleeper;
    return next;
  }
}

function isBefore(sleeper: Sleeper, other: Sleeper | undefined): boolean {
  if (other === undefined) return true;
  return sleeper.dueMs < other.dueMs || (sleeper.dueMs === other.dueMs && sleeper.order < other.order);
}

async function turnEventLoop(): Promise<void> {
  for (let turn = 0; turn < SETTLE_TURNS; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
