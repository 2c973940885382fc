import type { Instant } from '../base/clock.ts';
import type { TaskNo } from '../model/ids.ts';
import type { Grant, TurnMaterial } from '../store/contract.ts';
import { RunExecution } from './execution.ts';
import type { Engine, RuntimeParts } from './ports.ts';
import { StartOrder } from './start-order.ts';

/** Lost workers after which a run begins alone, so that what kills processes takes no other run along. */
const CRASHES_ALONE = 2;

/** The lease engine: executes granted runs in this process. */
export function createEngine(parts: RuntimeParts): Engine {
  return new LocalEngine(parts);
}

/**
 * A run holds its slot until its handler can do no more, which may be long after its task was settled: a handler that
 * ignores its abort still uses the machine. `held` are the runs whose end the store does not have yet.
 */
class LocalEngine implements Engine {
  readonly name = 'local';
  readonly #parts: RuntimeParts;
  readonly #occupied = new Set<RunExecution>();
  readonly #held = new Map<TaskNo, RunExecution>();
  readonly #order: StartOrder<RunExecution>;
  readonly #slotWatchers = new Set<() => void>();
  readonly #emptyWatchers = new Set<() => void>();
  #isDrained = false;

  constructor(parts: RuntimeParts) {
    this.#parts = parts;
    const { idleMaxMs } = parts.config.times;
    this.#order = new StartOrder(
      { clock: parts.clock, idleMaxMs },
      {
        begin: (run) => {
          this.#follow(run);
        },
        opened: () => this.#wakeSlotWatchers(),
      },
    );
  }

  get exclusive(): boolean {
    return this.#order.isExclusive;
  }

  freeSlots(): number {
    return Math.max(0, this.#parts.config.concurrency - this.#occupied.size);
  }

  start(grant: Grant, material?: TurnMaterial): void {
    const run = new RunExecution(this.#parts, grant, material);
    this.#occupied.add(run);
    this.#held.set(grant.taskNo, run);
    const place = this.#order.add(run, grant.turn.crashes >= CRASHES_ALONE);
    if (place === 'refused' || this.#isDrained) this.#end(run, (ended) => ended.drain());
  }

  cancel(taskNo: TaskNo): void {
    const run = this.#held.get(taskNo);
    if (run !== undefined) this.#end(run, (ended) => ended.cancel());
  }

  loseAll(): void {
    for (const run of [...this.#held.values()]) this.#end(run, (ended) => ended.lose());
  }

  /** Tells a run its end; one that has not begun writes that end at once. */
  #end(run: RunExecution, tell: (run: RunExecution) => void): void {
    tell(run);
    this.#order.hurry(run);
  }

  held(): ReturnType<Engine['held']> {
    return [...this.#held].map(([taskNo, run]) => ({ taskNo, seq: run.headSeq }));
  }

  nextFree(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const abort = (): void => {
        this.#slotWatchers.delete(freed);
        reject(signal.reason);
      };
      const freed = (): void => {
        this.#slotWatchers.delete(freed);
        signal.removeEventListener('abort', abort);
        resolve();
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#slotWatchers.add(freed);
    });
  }

  async drain(deadline: Instant): Promise<void> {
    const none = this.#untilNoneHeld();
    const early = new AbortController();
    const overtime = this.#parts.clock.sleep(Math.max(0, deadline - this.#parts.clock.now()), early.signal);
    await Promise.race([none, overtime]);
    overtime.catch(() => {});
    early.abort();
    this.#isDrained = true;
    for (const run of [...this.#held.values()]) this.#end(run, (ended) => ended.drain());
    await none;
  }

  async #follow(run: RunExecution): Promise<void> {
    await run.execute();
    const { taskNo } = run.grant;
    if (this.#held.get(taskNo) === run) this.#held.delete(taskNo);
    if (this.#held.size === 0) for (const watcher of [...this.#emptyWatchers]) watcher();
    await run.released();
    this.#occupied.delete(run);
    this.#order.ended(run);
    this.#wakeSlotWatchers();
  }

  #wakeSlotWatchers(): void {
    for (const watcher of [...this.#slotWatchers]) watcher();
  }

  #untilNoneHeld(): Promise<void> {
    if (this.#held.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const empty = (): void => {
        this.#emptyWatchers.delete(empty);
        resolve();
      };
      this.#emptyWatchers.add(empty);
    });
  }
}
