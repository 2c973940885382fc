import type { Instant } from '../base/clock.ts';
import type { Service } from '../base/service.ts';
import type { StoredEvent } from '../model/event.ts';
import type { Fence, TaskNo } from '../model/ids.ts';
import { DueTimes } from './due-times.ts';
import { letOthersGoOn } from './event-loop.ts';
import { createListeningLoop } from './loop-service.ts';
import { type SweepParts, type Swept, sweepDeadline, sweepLost, sweepStray, sweepTimer } from './sweep.ts';
import { DUE, type Wakeups } from './wakeups.ts';

/** Tasks of one kind that one read of a sweep brings; a sweep reads on while there are more. */
const BATCH_TASKS = 100;
/** Reads of one kind in one sweep; what is left is the next sweep's. */
const BATCHES_MAX = 100;
const DUE_TIMES_MAX = 1_024;
const BLOBS_PER_SWEEP = 100;
/** On SQLite a hundred of 8 MiB in one commit hold the event loop for a second, two for some 20 ms. */
const BLOBS_PER_COMMIT = 2;
/** Long enough for the slowest upload between its first slice and its event. */
const STAGED_BLOB_MS = 3_600_000;

export interface Sweeper extends Service {
  /** One whole sweep now; what fails is logged and left for the next. */
  sweep(signal: AbortSignal): Promise<void>;
  /** Sees what is committed here, so that timers and cancels that fall due before the next sweep get one of their own. */
  observe(events: readonly StoredEvent[]): void;
}

export interface SweeperParts extends SweepParts {
  readonly wakeups: Wakeups;
  /** Other things that want a try with every sweep. */
  readonly chores: readonly (() => Promise<void>)[];
}

/**
 * Finds what nobody else will move: runs of dead workers, deadlines that passed, timers that are due, blobs that no
 * event took up. Any process may sweep any task, since each change is written only where the task still stands as it was read.
 */
export function createSweeper(parts: SweeperParts): Sweeper {
  const sweeping = new Sweeping(parts);
  const loop = createListeningLoop({
    name: 'sweeper',
    clock: parts.clock,
    log: parts.log,
    errorPauseMs: parts.config.sweepMs,
    wakeups: parts.wakeups,
    topic: DUE,
    round: async (signal, listener) => {
      await listener.next({ pollMs: sweeping.nextInMs(), signal });
      await sweeping.sweepIfDue(signal);
    },
  });
  return {
    ...loop,
    sweep: (signal) => sweeping.sweep(signal),
    observe: (events) => sweeping.observe(events),
  };
}

class Sweeping {
  readonly #parts: SweeperParts;
  readonly #due = new DueTimes(DUE_TIMES_MAX);
  /** Tasks whose change failed or is not ours: they are read over, so that they do not stand before the others. */
  readonly #skipped = { orphans: new Set<TaskNo>(), deadlines: new Set<TaskNo>(), timers: new Set<TaskNo>() };
  /** Runs leased to this worker that the engine did not know at the last sweep. */
  #strays = new Map<TaskNo, Fence>();
  #sweptAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: SweeperParts) {
    this.#parts = parts;
  }

  observe(events: readonly StoredEvent[]): void {
    for (const event of events) {
      const at = dueAt(event, this.#parts.config.times.cancelGraceMs);
      if (at !== undefined && this.#due.add(at)) this.#parts.wakeups.wake(DUE);
    }
  }

  /** Until the next regular sweep, or until something that this process knows of falls due. */
  nextInMs(): number {
    const { clock, config } = this.#parts;
    // The same difference as `sweepIfDue` takes, in whole milliseconds: what is due here and not yet there would spin.
    const regularMs = Math.max(0, Math.ceil(config.sweepMs - (clock.monotonicMs() - this.#sweptAtMs)));
    const nearest = this.#due.nearest;
    const waitMs = Math.min(regularMs, config.sweepMs);
    return nearest === undefined ? waitMs : Math.min(waitMs, Math.max(0, nearest - clock.now()));
  }

  async sweepIfDue(signal: AbortSignal): Promise<void> {
    const { clock, config } = this.#parts;
    if (clock.monotonicMs() - this.#sweptAtMs >= config.sweepMs) return await this.sweep(signal);
    const now = clock.now();
    if (this.#due.nearest === undefined || this.#due.nearest > now) return;
    this.#due.passed(now);
    await this.#sweepTimes(signal);
  }

  async sweep(signal: AbortSignal): Promise<void> {
    this.#sweptAtMs = this.#parts.clock.monotonicMs();
    this.#due.passed(this.#parts.clock.now());
    await this.#attempt('workers not buried', () => this.#bury());
    await this.#sweepTimes(signal);
    await this.#each('orphans', signal, (taskNo) => sweepLost(this.#parts, taskNo));
    await this.#attempt('stray runs not looked for', () => this.#sweepStrays());
    for (const chore of this.#parts.chores) await this.#attempt('chore failed', chore);
    await this.#attempt('staged blobs not dropped', () => this.#dropStagedBlobs(signal));
  }

  /** A few at a time, so that requests go on between the commits. */
  async #dropStagedBlobs(signal: AbortSignal): Promise<void> {
    for (let left = BLOBS_PER_SWEEP; left > 0 && !signal.aborted; left -= BLOBS_PER_COMMIT) {
      const request = { olderThanMs: STAGED_BLOB_MS, itemsMax: BLOBS_PER_COMMIT };
      if ((await this.#parts.store.dropStagedBlobs(request)) < BLOBS_PER_COMMIT) return;
      await letOthersGoOn();
    }
  }

  /** Asking for the worker judges its lease first: where it is lost, what executes here is inert before it is swept. */
  async #bury(): Promise<void> {
    const own = this.#parts.lease.worker();
    const dead = await this.#parts.store.buryWorkers({
      all: false,
      ...(own === undefined ? {} : { except: own.workerNo }),
    });
    if (dead > 0) this.#parts.log.warn('workers were lost', { workers: dead });
  }

  async #sweepTimes(signal: AbortSignal): Promise<void> {
    await this.#each('deadlines', signal, async (taskNo, now) => sweepDeadline(this.#parts, taskNo, now));
    await this.#each('timers', signal, async (taskNo, now) => sweepTimer(this.#parts, taskNo, now));
  }

  async #each(
    kind: 'orphans' | 'deadlines' | 'timers',
    signal: AbortSignal,
    sweepOne: (taskNo: TaskNo, now: Instant) => Promise<Swept>,
  ): Promise<void> {
    const skipped = this.#skipped[kind];
    const before = new Set(skipped);
    skipped.clear();
    await this.#attempt(`${kind} not read`, async () => {
      for (let batch = 0; batch < BATCHES_MAX && !signal.aborted; batch += 1) {
        const itemsMax = BATCH_TASKS + skipped.size + before.size;
        const found = await this.#read(kind, itemsMax);
        const fresh = found.filter((taskNo) => !skipped.has(taskNo));
        if (fresh.length === 0) return;
        const now = kind === 'orphans' ? this.#parts.clock.now() : await this.#parts.store.now();
        for (const taskNo of fresh) {
          if (signal.aborted) return;
          if ((await this.#one(kind, taskNo, () => sweepOne(taskNo, now))) !== 'written') skipped.add(taskNo);
        }
        if (found.length < itemsMax) return;
      }
    });
  }

  #read(kind: 'orphans' | 'deadlines' | 'timers', itemsMax: number): Promise<readonly TaskNo[]> {
    const { store } = this.#parts;
    if (kind === 'orphans') return store.orphans(itemsMax);
    return kind === 'deadlines' ? store.dueDeadlines(itemsMax) : store.dueTimers(itemsMax);
  }

  async #one(kind: string, taskNo: TaskNo, work: () => Promise<Swept>): Promise<Swept> {
    try {
      return await work();
    } catch (error) {
      this.#parts.log.warn('task not swept', { kind, taskNo, error });
      return 'left';
    }
  }

  /** A grant that is still on its way to the engine looks like a stray, so only one that was seen before counts. */
  async #sweepStrays(): Promise<void> {
    const { store, lease, engine } = this.#parts;
    const own = lease.worker();
    const seen = this.#strays;
    this.#strays = new Map();
    if (own === undefined) return;
    const leased = (await store.leasedTo?.(own.workerNo)) ?? [];
    const held = new Set(engine.held().map(({ taskNo }) => taskNo));
    for (const { taskNo, fence } of leased) {
      if (held.has(taskNo)) continue;
      if (seen.get(taskNo) !== fence) this.#strays.set(taskNo, fence);
      else await this.#one('stray', taskNo, () => sweepStray(this.#parts, { taskNo, fence }));
    }
  }

  async #attempt(message: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#parts.log.warn(message, { service: 'sweeper', error });
    }
  }
}

function dueAt(event: StoredEvent, cancelGraceMs: number): Instant | undefined {
  if (event.kind === 'timer-set') return event.wakeAt;
  return event.kind === 'cancel-requested' ? ((event.at + cancelGraceMs) as Instant) : undefined;
}
