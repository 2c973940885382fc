import { type Clock, type Instant, instant } from '../../src/base/clock.ts';
import type { Random } from '../../src/base/random.ts';

/** 2026-01-01T00:00:00Z, a moment that reads well in a failure. */
const START_MS = 1_767_225_600_000;

/** A history takes a few thousand; one that takes so many goes round in a circle. */
const WAKES_MAX = 300_000;

interface Sleeper {
  readonly dueMs: number;
  readonly order: number;
  readonly wake: () => void;
  isGone: boolean;
}

/**
 * The time of a whole simulated world. It moves from one sleep to the next, in the order of their times, and lets
 * everything that one wake sets in motion come to rest before it wakes the next. So one seed gives one history.
 */
export class SimulationClock {
  #nowMs = 0;
  #order = 0;
  #sleeping = 0;
  #wakes = 0;
  /** A binary heap: the next to wake is the first. */
  readonly #heap: Sleeper[] = [];

  /** Whole milliseconds, as machines tell them; the steady count has fractions, as machines' have. */
  now(): Instant {
    return instant(START_MS + Math.floor(this.#nowMs));
  }

  /** Milliseconds since the history began. */
  get elapsedMs(): number {
    return this.#nowMs;
  }

  get wakes(): number {
    return this.#wakes;
  }

  /** Sleeps in hand. */
  get sleeping(): number {
    return this.#sleeping;
  }

  /** Calls `wake` in `sleepMs`; gives what takes it back. */
  after(sleepMs: number, wake: () => void): () => void {
    this.#order += 1;
    const sleeper = { dueMs: this.#nowMs + Math.max(0, sleepMs), order: this.#order, wake, isGone: false };
    this.#push(sleeper);
    this.#sleeping += 1;
    return () => {
      if (sleeper.isGone) return;
      sleeper.isGone = true;
      this.#sleeping -= 1;
    };
  }

  sleep(sleepMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(sleepMs, resolve);
    });
  }

  /** Wakes one sleeper after the other until time has passed by `ms`, or `isEnough` says so. */
  async advance(ms: number, isEnough: () => boolean = () => false): Promise<void> {
    await comeToRest();
    const untilMs = this.#nowMs + ms;
    while (!isEnough()) {
      const next = this.#next();
      if (next === undefined || next.dueMs > untilMs) break;
      this.#pop();
      next.isGone = true;
      this.#sleeping -= 1;
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      this.#wakes += 1;
      if (this.#wakes > WAKES_MAX) throw new Error(`${WAKES_MAX} wakes, and no end in sight`);
      next.wake();
      await comeToRest();
    }
    if (!isEnough()) this.#nowMs = Math.max(this.#nowMs, untilMs);
  }

  #next(): Sleeper | undefined {
    while (this.#heap[0]?.isGone === true) this.#pop();
    return this.#heap[0];
  }

  #push(sleeper: Sleeper): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(sleeper);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (isBefore(heap[parent]!, sleeper)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = sleeper;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (isBefore(last, heap[child]!)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: Sleeper, b: Sleeper): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}

function shuffled<Item>(items: readonly Item[], random: Random): readonly Item[] {
  const places = items.map((item) => ({ item, place: random.fraction() }));
  return places.sort((a, b) => a.place - b.place).map(({ item }) => item);
}

/** Nothing here waits for anything but promises, so all of it has run when the event loop comes round. */
function comeToRest(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Whether a process runs: `frozen` ones are held where they are and go on, `dead` ones never do. */
export type ProcessState = 'running' | 'frozen' | 'dead';

/**
 * What a process has of time. Nothing in a process moves but by its clock and by answers of its store; holding both
 * back freezes it, and holding them back for ever kills it, without a word to anyone.
 */
export class ProcessClock implements Clock {
  readonly #world: SimulationClock;
  /** How far the machine's wall clock is off. */
  #skewMs: number;
  #state: ProcessState = 'running';
  #held: (() => void)[] = [];

  constructor(world: SimulationClock, skewMs: number) {
    this.#world = world;
    this.#skewMs = skewMs;
  }

  get state(): ProcessState {
    return this.#state;
  }

  now(): Instant {
    return instant(this.#world.now() + this.#skewMs);
  }

  monotonicMs(): number {
    return this.#world.elapsedMs;
  }

  sleep(sleepMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const abort = (): void => {
        takeBack();
        reject(signal.reason);
      };
      const takeBack = this.#world.after(sleepMs, () =>
        this.whenRunning(() => {
          signal.removeEventListener('abort', abort);
          resolve();
        }),
      );
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** Somebody sets the machine's wall clock. */
  setSkew(skewMs: number): void {
    this.#skewMs = skewMs;
  }

  /** Resolves while the process runs: at once, when it is thawed, or never. */
  running(): Promise<void> {
    return new Promise((resolve) => this.whenRunning(resolve));
  }

  whenRunning(go: () => void): void {
    if (this.#state === 'running') go();
    else if (this.#state === 'frozen') this.#held.push(go);
  }

  freeze(): void {
    if (this.#state === 'running') this.#state = 'frozen';
  }

  /** What came in meanwhile is dealt with one after the other: timers, answers and requests, in no order of theirs. */
  thaw(random: Random): void {
    if (this.#state !== 'frozen') return;
    this.#state = 'running';
    const held = shuffled(this.#held, random);
    this.#held = [];
    for (const go of held) this.#world.after(0, () => this.whenRunning(go));
  }

  kill(): void {
    this.#state = 'dead';
    this.#held = [];
  }
}
