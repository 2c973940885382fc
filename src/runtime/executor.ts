import { OVER } from '../base/abort-over.ts';
import type { Instant } from '../base/clock.ts';
import type { TaskNo } from '../model/ids.ts';
import type { Grant, TurnMaterial } from '../store/contract.ts';
import { RunExecution } from './execution.ts';
import type { Engine, RuntimeParts } from './ports.ts';

/** Lost workers after which a run begins alone, so that what kills processes takes no other run along. */
const CRASHES_ALONE = 2;
/** How long it stays alone. What killed its process twice mostly does so soon; a run of hours must not hold up everybody. */
const ALONE_MS = 30_000;

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
  /** Runs that are alone for now, with what ends it. */
  readonly #alone = new Map<RunExecution, AbortController>();
  readonly #slotWatchers = new Set<() => void>();
  readonly #emptyWatchers = new Set<() => void>();
  #isDrained = false;

  constructor(parts: RuntimeParts) {
    this.#parts = parts;
  }

  get exclusive(): boolean {
    return this.#alone.size > 0;
  }

  freeSlots(): number {
    return Math.max(0, this.#parts.config.concurrency - this.#occupied.size);
  }

  start(grant: Grant, material?: TurnMaterial): void {
    const run = new RunExecution(this.#parts, grant, material);
    this.#occupied.add(run);
    this.#held.set(grant.taskNo, run);
    if (grant.turn.crashes >= CRASHES_ALONE) this.#keepAlone(run);
    this.#follow(run);
    if (this.#isDrained) run.drain();
  }

  cancel(taskNo: TaskNo): void {
    this.#held.get(taskNo)?.cancel();
  }

  loseAll(): void {
    for (const run of this.#held.values()) run.lose();
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
    for (const run of this.#held.values()) run.drain();
    await none;
  }

  async #follow(run: RunExecution): Promise<void> {
    await run.execute();
    const { taskNo } = run.grant;
    if (this.#held.get(taskNo) === run) this.#held.delete(taskNo);
    if (this.#held.size === 0) for (const watcher of [...this.#emptyWatchers]) watcher();
    await run.released();
    this.#occupied.delete(run);
    this.#alone.get(run)?.abort(OVER);
    for (const watcher of [...this.#slotWatchers]) watcher();
  }

  #keepAlone(run: RunExecution): void {
    const ended = new AbortController();
    this.#alone.set(run, ended);
    const joined = (): void => {
      this.#alone.delete(run);
      for (const watcher of [...this.#slotWatchers]) watcher();
    };
    this.#parts.clock.sleep(ALONE_MS, ended.signal).then(joined, joined);
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
