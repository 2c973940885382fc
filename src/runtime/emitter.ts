import { assert } from '../base/assert.ts';
import { errorCode } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { StoredEvent } from '../model/event.ts';
import type { Seq } from '../model/ids.ts';
import type { AppendResult, Fact, Grant } from '../store/contract.ts';
import { createBackoff, mayHelpLater } from './backoff.ts';
import { IdleDeadline } from './deadlines.ts';
import type { RuntimeParts } from './ports.ts';
import { RunEnded } from './run-phase.ts';

/** Facts that are committed together or not at all, and about how many bytes they hold. */
export interface Emission {
  readonly facts: readonly Fact[];
  readonly bytes: number;
}

/** What was not committed when the run ended; it goes with the settlement, in one transaction. */
export interface Unwritten {
  readonly emitNo: number;
  readonly facts: readonly Fact[];
}

export interface EmitterWatch {
  /** After each commit, in order. `isInterleaved`: somebody else wrote to this log in between. */
  committed(events: readonly StoredEvent[], at: { readonly headSeq: Seq; readonly isInterleaved: boolean }): void;
  /** The store gave the task to somebody else. Called before anything that waits here is told. */
  lost(): void;
  /** The store refuses what the run writes, for a reason that no retry cures. */
  broken(error: unknown): void;
}

type EmitterParts = Pick<RuntimeParts, 'clock' | 'random' | 'log' | 'config'> & {
  readonly store: Pick<RuntimeParts['store'], 'append'>;
};

interface Waiter {
  /** The emission, counted from 1, that must be committed. */
  readonly ticket: number;
  resolve(): void;
  reject(error: Error): void;
}
interface Entrant extends Waiter {
  readonly emission: Emission;
}

/**
 * Writes what one run emits, in order, one batch in flight.
 *
 * An emission resolves when it is taken into a bounded buffer; while that is full, emissions wait in line. What gathers
 * during a commit is the next batch, so commits group by themselves. A batch names its first emission, so when a
 * connection is lost the same batch is sent again, for as long as the lease lasts, and is written once.
 */
export class Emitter {
  readonly #parts: EmitterParts;
  readonly #grant: Grant;
  readonly #watch: EmitterWatch;
  readonly #idle: IdleDeadline;
  readonly #stop = new AbortController();
  /** `held`: what is emitted now waits for the settlement. `closed`: the settlement has it. */
  #state: 'open' | 'held' | 'closed' | 'stopped' = 'open';
  #headSeq: Seq;
  #emitNo = 0;
  #attached: Fact[] = [];
  #attachedBytes = 0;
  #buffer: Emission[] = [];
  #bufferFacts = 0;
  #bufferBytes = 0;
  #line: Entrant[] = [];
  #issued = 0;
  #committed = 0;
  #waiters: Waiter[] = [];
  #pump: Promise<void> | undefined;
  /** Ends the time in which a batch grows. */
  #hurry: (() => void) | undefined;
  #signOfLife = false;

  /** `grantedAtMs`: when the grant came, on the steady clock. A run may wait long before it emits. */
  constructor(
    parts: EmitterParts,
    from: { readonly grant: Grant; readonly headSeq: Seq; readonly grantedAtMs: number },
    watch: EmitterWatch,
  ) {
    this.#parts = parts;
    this.#grant = from.grant;
    this.#watch = watch;
    this.#headSeq = from.headSeq;
    this.#idle = new IdleDeadline(parts.config.times, from.grantedAtMs);
  }

  /** The newest event of this task that this run knows of. */
  get headSeq(): Seq {
    return this.#headSeq;
  }

  /** Facts of this run that the store has. */
  get emitNo(): number {
    return this.#emitNo;
  }

  /**
   * Facts that go with the next emission, in one transaction with it; with the settlement if there is none. When they are half of what
   * the buffer holds they are an emission of their own, so that the next one finds room and no batch is larger than that.
   */
  attach(more: Emission): void {
    if (this.#state === 'stopped') return;
    this.#attached.push(...more.facts);
    this.#attachedBytes += more.bytes;
    const isMuch = this.#attached.length > limits.emitEventsMax / 2 || this.#attachedBytes > limits.emitBytesMax / 2;
    if (isMuch) this.emit(NOTHING).catch(ignoreEnd);
  }

  /** Resolves when the emission is taken; rejects with `RunEnded` when the run is over before. */
  emit(wanted: Emission): Promise<void> {
    if (this.#state === 'closed' || this.#state === 'stopped') return Promise.reject(new RunEnded());
    const emission = this.#withAttached(wanted);
    this.#issued += 1;
    if (this.#line.length === 0 && (this.#state === 'held' || this.#hasRoom(emission))) {
      this.#take(emission);
      return TAKEN;
    }
    const ticket = this.#issued;
    this.#hurry?.();
    return new Promise((resolve, reject) => this.#line.push({ ticket, emission, resolve, reject }));
  }

  /** Emits, and resolves when it is durable. */
  async commit(emission: Emission): Promise<void> {
    const taken = this.emit(emission);
    const ticket = this.#issued;
    await taken;
    await this.#untilCommitted(ticket);
  }

  /** Resolves when everything emitted so far is durable. */
  flush(): Promise<void> {
    return this.#untilCommitted(this.#issued);
  }

  /** The idle deadline starts anew, by an empty batch where no other comes; while the stored one is far enough away nothing is written. */
  alive(): void {
    if (this.#state !== 'open' || this.#idle.due(this.#parts.clock.monotonicMs()) === undefined) return;
    this.#signOfLife = true;
    this.#start();
  }

  /** The run has ended: what is not on its way yet, and what its ending emits, is to go with the settlement. */
  hold(): void {
    if (this.#state === 'open') this.#state = 'held';
    this.#hurry?.();
  }

  /** Takes no more, lets the batch in flight end, and gives what is left. Nothing when the lease was lost meanwhile. */
  async close(): Promise<Unwritten | undefined> {
    this.hold();
    await this.#pump;
    if (this.#isStopped()) return undefined;
    this.#state = 'closed';
    assert(this.#line.length === 0, 'the pump ends only when nobody waits in line');
    const facts = this.#buffer.flatMap((emission) => emission.facts);
    return { emitNo: this.#emitNo, facts: [...facts, ...this.#attached] };
  }

  /** The run has lost its grant: nothing is sent any more, and whoever waits here is told `RunEnded`. */
  stop(): void {
    if (this.#state === 'stopped') return;
    this.#state = 'stopped';
    this.#hurry?.();
    this.#stop.abort(new RunEnded());
    const waiting = [...this.#line, ...this.#waiters];
    this.#line = [];
    this.#waiters = [];
    for (const waiter of waiting) waiter.reject(new RunEnded());
  }

  #untilCommitted(ticket: number): Promise<void> {
    if (this.#committed >= ticket) return TAKEN;
    if (this.#state === 'stopped') return Promise.reject(new RunEnded());
    this.#hurry?.();
    return new Promise((resolve, reject) => this.#waiters.push({ ticket, resolve, reject }));
  }

  #isStopped(): boolean {
    return this.#state === 'stopped';
  }

  #withAttached(emission: Emission): Emission {
    if (this.#attached.length === 0) return emission;
    const facts = [...this.#attached, ...emission.facts];
    const bytes = this.#attachedBytes + emission.bytes;
    this.#attached = [];
    this.#attachedBytes = 0;
    return { facts, bytes };
  }

  /** An emission that is larger than the whole buffer is taken alone. */
  #hasRoom(emission: Emission): boolean {
    if (this.#buffer.length === 0) return true;
    return (
      this.#bufferFacts + emission.facts.length <= limits.emitEventsMax &&
      this.#bufferBytes + emission.bytes <= limits.emitBytesMax
    );
  }

  #take(emission: Emission): void {
    this.#buffer.push(emission);
    this.#bufferFacts += emission.facts.length;
    this.#bufferBytes += emission.bytes;
    this.#start();
  }

  #start(): void {
    if (this.#state === 'open') this.#pump ??= this.#run();
  }

  async #run(): Promise<void> {
    while (this.#hasWork()) {
      await this.#gather();
      if (!this.#hasWork()) break;
      this.#signOfLife = false;
      const batch = this.#buffer.slice();
      const facts = batch.flatMap((emission) => emission.facts);
      const result = await this.#append(facts);
      if (result === undefined) break;
      this.#settleBatch(batch, facts.length, result);
    }
    this.#pump = undefined;
  }

  /**
   * Lets a batch grow until the event loop has turned once, so that a store which answers at once still gets batches;
   * not while somebody waits for a commit, or for room.
   */
  async #gather(): Promise<void> {
    await TAKEN;
    if (this.#isUrgent()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#hurry = resolve;
    const turn = setImmediate(resolve);
    await promise;
    clearImmediate(turn);
    this.#hurry = undefined;
  }

  #isUrgent(): boolean {
    return this.#state !== 'open' || this.#waiters.length > 0 || this.#line.length > 0;
  }

  /** Once it is held, only what stands in line is still made room for; the rest goes with the settlement. */
  #hasWork(): boolean {
    if (this.#state === 'held') return this.#line.length > 0;
    return this.#state === 'open' && (this.#buffer.length > 0 || this.#signOfLife);
  }

  async #append(facts: readonly Fact[]): Promise<AppendResult | undefined> {
    const backoff = createBackoff(this.#parts);
    const nowMs = this.#parts.clock.monotonicMs();
    const deadline = this.#idle.due(nowMs);
    const batch = { emitNo: this.#emitNo, facts, ...(deadline === undefined ? {} : { deadline }) };
    while (!this.#isStopped()) {
      try {
        const result = await this.#parts.store.append(this.#grant, batch);
        if (deadline !== undefined) this.#idle.written(nowMs);
        return result;
      } catch (error) {
        if (!mayHelpLater(error)) {
          this.#fail(error);
          return undefined;
        }
        this.#parts.log.warn('append failed, trying again', { taskId: this.#grant.taskId, error });
        await backoff.pause(this.#stop.signal).catch(ignoreEnd);
      }
    }
    return undefined;
  }

  #fail(error: unknown): void {
    if (this.#isStopped()) return;
    if (errorCode(error) === 'lease_lost') this.#watch.lost();
    else this.#watch.broken(error);
    this.stop();
  }

  #settleBatch(batch: readonly Emission[], factCount: number, result: AppendResult): void {
    if (this.#isStopped()) return;
    this.#emitNo += factCount;
    const isInterleaved = result.kind === 'repeated' || result.headSeq !== this.#headSeq + result.events.length;
    this.#headSeq = result.headSeq;
    this.#watch.committed(result.events, { headSeq: result.headSeq, isInterleaved });
    this.#committed += batch.length;
    this.#drop(batch);
    this.#admit();
    this.#release();
  }

  #drop(batch: readonly Emission[]): void {
    this.#buffer.splice(0, batch.length);
    for (const emission of batch) {
      this.#bufferFacts -= emission.facts.length;
      this.#bufferBytes -= emission.bytes;
    }
  }

  #admit(): void {
    let admitted = 0;
    for (const entrant of this.#line) {
      if (!this.#hasRoom(entrant.emission)) break;
      this.#take(entrant.emission);
      entrant.resolve();
      admitted += 1;
    }
    this.#line.splice(0, admitted);
  }

  #release(): void {
    const due = this.#waiters.filter((waiter) => waiter.ticket <= this.#committed);
    if (due.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => waiter.ticket > this.#committed);
    for (const waiter of due) waiter.resolve();
  }
}

const TAKEN: Promise<void> = Promise.resolve();
const NOTHING: Emission = { facts: [], bytes: 0 };

function ignoreEnd(): void {}
