import type { Clock, Instant } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Service } from '../base/service.ts';
import type { NewId } from '../base/unique-id.ts';
import type { AgentName, WorkerId, WorkerNo } from '../model/ids.ts';
import type { SystemStore } from '../store/contract.ts';
import { createLoop, untilAborted } from './loop-service.ts';

/**
 * A worker judges its lease lost this long before the store would: a paused process must stop writing before another
 * is allowed to start. The fence makes a late write harmless; this makes it rare. Short leases give up a fifth.
 */
export const LEASE_LOSS_MARGIN_MS = 2_000;
const MARGIN_SHARE = 1 / 5;
/** Three chances to renew before the lease is lost. */
const RENEW_SHARE = 1 / 3;
/** After a renewal that the store could not take. */
const RETRY_SHARE = 1 / 15;

/** This process as the store knows it. */
export interface Worker {
  readonly workerNo: WorkerNo;
  readonly workerId: WorkerId;
}

export interface Lease {
  /** The worker while its lease holds, judged by the clock at each call; undefined while there is none. */
  worker(): Worker | undefined;
  /** Resolves with the worker as soon as there is one. */
  ready(signal: AbortSignal): Promise<Worker>;
}

export interface LeaseOptions {
  readonly store: Pick<SystemStore, 'registerWorker' | 'renewWorker' | 'retireWorker'>;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Logger;
  readonly agents: readonly AgentName[];
  readonly leaseMs: number;
  /** Called at once when the lease is lost, before anything else of this process goes on. */
  readonly onLost: () => void;
}

interface Held extends Worker {
  /** On the steady clock: the lease counts as lost from here. */
  readonly goodUntilMs: number;
  readonly renewAtMs: number;
}

/**
 * Registers this process as a worker and keeps its lease.
 *
 *   none ──register──▶ held ──renewed in time──▶ held
 *                      held ──swept, or the time is up by our own steady clock──▶ none, and everything here becomes inert
 *
 * Time counts from before a renewal was sent, since the store may have taken it at once. A worker that was lost is dead
 * for ever: the process goes on under a new id.
 */
export class LeaseKeeper implements Service, Lease {
  readonly name = 'lease-keeper';
  readonly #options: LeaseOptions;
  readonly #loop: Service;
  readonly #waiters = new Set<(worker: Worker) => void>();
  #held: Held | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#loop = createLoop({
      ...options,
      name: this.name,
      round: (signal) => this.#round(signal),
      errorPauseMs: options.leaseMs * RETRY_SHARE,
    });
  }

  /** Resolves when the worker is registered; throws what the store throws. */
  async start(): Promise<void> {
    if (this.#held === undefined) await this.#register(new AbortController().signal);
    await this.#loop.start();
  }

  /** Gives the lease back. What still executes here is lost to it, so drain first. */
  async stop(deadline: Instant): Promise<void> {
    await this.#loop.stop(deadline);
    const held = this.#held;
    this.#held = undefined;
    if (held === undefined) return;
    const patience = new AbortController();
    const patient = this.#options.clock
      .sleep(Math.max(0, deadline - this.#options.clock.now()), patience.signal)
      .catch(() => 'the store answered');
    const retired = this.#options.store
      .retireWorker(held.workerNo)
      .catch((error: unknown) => this.#options.log.warn('worker not retired', { workerId: held.workerId, error }));
    await Promise.race([retired, patient]);
    patience.abort();
    await patient;
  }

  worker(): Worker | undefined {
    if (this.#held !== undefined && this.#options.clock.monotonicMs() >= this.#held.goodUntilMs) this.#lose('late');
    return this.#held;
  }

  ready(signal: AbortSignal): Promise<Worker> {
    const worker = this.worker();
    if (worker !== undefined) return Promise.resolve(worker);
    let wake: ((worker: Worker) => void) | undefined;
    const registered = new Promise<Worker>((resolve) => {
      wake = resolve;
      this.#waiters.add(resolve);
    });
    return untilAborted(registered, signal).finally(() => wake !== undefined && this.#waiters.delete(wake));
  }

  async #round(signal: AbortSignal): Promise<void> {
    const held = this.#held;
    if (held === undefined) return await this.#register(signal);
    await this.#options.clock.sleep(Math.max(0, held.renewAtMs - this.#options.clock.monotonicMs()), signal);
    if (this.worker() === held) await this.#renew(held, signal);
  }

  async #register(signal: AbortSignal): Promise<void> {
    const { clock, store, agents, leaseMs } = this.#options;
    const workerId = this.#options.newId() as WorkerId;
    const sentAtMs = clock.monotonicMs();
    const workerNo = await untilAborted(store.registerWorker({ workerId, agents, leaseMs }), signal);
    const held = this.#heldFrom({ workerNo, workerId }, sentAtMs);
    this.#held = held;
    this.#options.log.debug('worker registered', { workerId, workerNo });
    for (const wake of this.#waiters) wake(held);
    this.#waiters.clear();
  }

  async #renew(held: Held, signal: AbortSignal): Promise<void> {
    const { clock, store, leaseMs, log } = this.#options;
    const sentAtMs = clock.monotonicMs();
    const timer = new AbortController();
    const stop = (): void => timer.abort();
    signal.addEventListener('abort', stop, { once: true });
    const late = clock.sleep(held.goodUntilMs - sentAtMs, timer.signal).then(
      () => 'late' as const,
      () => 'stopped' as const,
    );
    const answer = store.renewWorker({ workerNo: held.workerNo, leaseMs }).catch((error: unknown) => {
      log.warn('lease not renewed', { workerId: held.workerId, error });
      return 'failed' as const;
    });
    try {
      const outcome = await Promise.race([answer, late]);
      if (outcome === 'stopped' || this.#held !== held) return;
      if (outcome === true) this.#held = this.#heldFrom(held, sentAtMs);
      else if (outcome === 'failed') this.#held = { ...held, renewAtMs: clock.monotonicMs() + leaseMs * RETRY_SHARE };
      else this.#lose(outcome === 'late' ? 'late' : 'swept');
    } finally {
      signal.removeEventListener('abort', stop);
      timer.abort();
      await late;
    }
  }

  #heldFrom(worker: Worker, sentAtMs: number): Held {
    const { leaseMs } = this.#options;
    const marginMs = Math.min(LEASE_LOSS_MARGIN_MS, leaseMs * MARGIN_SHARE);
    return {
      workerNo: worker.workerNo,
      workerId: worker.workerId,
      goodUntilMs: sentAtMs + leaseMs - marginMs,
      renewAtMs: sentAtMs + leaseMs * RENEW_SHARE,
    };
  }

  #lose(reason: 'late' | 'swept'): void {
    const held = this.#held;
    this.#held = undefined;
    this.#options.onLost();
    this.#options.log.warn('lease lost', { workerId: held?.workerId, reason });
  }
}
