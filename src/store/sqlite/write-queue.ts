import { CodedError } from '../../base/errors.ts';
import type { Connection } from './connection.ts';
import { isIoError, toStoreError } from './sqlite-errors.ts';

/** More in one commit would hold the event loop longer than a request should wait. */
export const BATCH_WRITES_MAX = 512;
export const BATCH_BYTES_MAX = 4 * 1024 * 1024;
/** Turns that a batch may take to gather while it grows. */
const GATHER_TURNS_MAX = 4;

interface PendingWrite {
  readonly work: () => unknown;
  readonly bytes: number;
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

type Outcome =
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: unknown };

type BatchResult =
  | { readonly kind: 'committed'; readonly outcomes: readonly Outcome[] }
  /** A write threw after it had written something, and had nothing of its own to go back to. */
  | { readonly kind: 'torn' }
  /** SQLite undid the transaction, or would not commit it. */
  | { readonly kind: 'undone'; readonly error: unknown }
  | { readonly kind: 'not-begun'; readonly error: unknown };

/**
 * Runs writes, which are synchronous closures, back to back: all that were handed in during one turn of the event loop
 * share one transaction and its one wait for the disk, and so do those of the next few turns while each brings more:
 * many callers are read one after the other, and a page that many writes touch is written once a commit. A write that
 * is alone waits for nobody. Nobody hears of his write before the commit.
 *
 * - A write that throws is undone alone; the others of its batch stand. One that had written nothing when it threw, as
 *   every refusal does, needs nothing for that. One that had makes the batch run again with a savepoint for each: they
 *   cost a third of a submit, since SQLite copies each page that a savepoint is first to touch, and are needed almost never.
 * - When SQLite has undone the whole transaction (a full disk may do so at any statement), nothing of the batch is there:
 *   every write runs again, in a transaction of its own, and gets an answer of its own.
 * - An I/O error at the commit leaves unknown what the file holds. The process must not go on as if it knew: `onFatal`.
 */
export class WriteQueue {
  readonly #connection: Connection;
  readonly #onFatal: (error: Error) => void;
  readonly #fileFault: () => Error | undefined;
  #pending: PendingWrite[] = [];
  #isScheduled = false;
  #refusal: Error | undefined;

  /** `fileFault` is asked before each commit; what it gives refuses the whole batch. */
  constructor(
    connection: Connection,
    onFatal: (error: Error) => void,
    fileFault: () => Error | undefined = () => undefined,
  ) {
    this.#connection = connection;
    this.#onFatal = onFatal;
    this.#fileFault = fileFault;
  }

  /** `work` may run more than once and keeps nothing but what it returns; `bytes` is about what it writes. */
  write<T>(bytes: number, work: () => T): Promise<T> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal);
    return new Promise<T>((resolve, reject) => {
      this.#pending.push({ work, bytes, resolve: resolve as (value: never) => void, reject });
      this.#schedule();
    });
  }

  /** Commits what is in hand, at once, and takes no more. */
  close(): void {
    if (this.#refusal !== undefined) return;
    while (this.#pending.length > 0) this.#commitBatch(this.#takeBatch());
    this.#refusal ??= new CodedError('unavailable', { message: 'The store is closed.' });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#gather(1, GATHER_TURNS_MAX);
  }

  /** One more turn as long as each turn brings more writes than were `known`. */
  #gather(known: number, turnsLeft: number): void {
    setImmediate(() => {
      const { length } = this.#pending;
      if (length > known && turnsLeft > 0) {
        this.#gather(length, turnsLeft - 1);
        return;
      }
      this.#isScheduled = false;
      if (length > 0) this.#commitBatch(this.#takeBatch());
      if (this.#pending.length > 0) this.#schedule();
    });
  }

  #takeBatch(): readonly PendingWrite[] {
    let bytes = 0;
    let count = 0;
    for (const write of this.#pending) {
      bytes += write.bytes;
      if (count === BATCH_WRITES_MAX || (count > 0 && bytes > BATCH_BYTES_MAX)) break;
      count += 1;
    }
    return this.#pending.splice(0, count);
  }

  #commitBatch(batch: readonly PendingWrite[]): void {
    let result = this.#tryBatch(batch, (write) => this.#runBare(write));
    if (result.kind === 'torn') result = this.#tryBatch(batch, (write) => this.#runInSavepoint(write));
    if (result.kind === 'committed') answer(batch, result.outcomes);
    else if (this.#refusal !== undefined) rejectAll(batch, this.#refusal);
    else if (result.kind === 'undone' && batch.length > 1) for (const write of batch) this.#commitBatch([write]);
    // A lock that another program holds would hold up each write of the batch in turn, so all of them hear of it at once.
    else rejectAll(batch, toStoreError('error' in result ? result.error : undefined));
  }

  #tryBatch(batch: readonly PendingWrite[], run: (write: PendingWrite) => Outcome | 'torn'): BatchResult {
    if (this.#refusal !== undefined) return { kind: 'not-begun', error: this.#refusal };
    const fault = this.#fileFault();
    if (fault !== undefined) return { kind: 'not-begun', error: fault };
    try {
      this.#connection.control('begin immediate');
    } catch (error) {
      return { kind: 'not-begun', error };
    }
    try {
      const outcomes: Outcome[] = [];
      for (const write of batch) {
        const outcome = run(write);
        if (outcome === 'torn') {
          this.#rollback();
          return { kind: 'torn' };
        }
        outcomes.push(outcome);
      }
      this.#commit();
      return { kind: 'committed', outcomes };
    } catch (error) {
      this.#rollback();
      return { kind: 'undone', error };
    }
  }

  /** Throws when the failure took the whole transaction with it. */
  #runBare(write: PendingWrite): Outcome | 'torn' {
    const changesBefore = this.#connection.changes;
    try {
      return { kind: 'done', value: write.work() };
    } catch (error) {
      if (!this.#connection.isTransaction) throw error;
      return this.#connection.changes === changesBefore ? { kind: 'failed', error } : 'torn';
    }
  }

  /** Throws when the failure took the whole transaction with it. */
  #runInSavepoint(write: PendingWrite): Outcome {
    this.#connection.control('savepoint one_write');
    try {
      const value = write.work();
      this.#connection.control('release one_write');
      return { kind: 'done', value };
    } catch (error) {
      if (!this.#connection.isTransaction) throw error;
      this.#connection.control('rollback to one_write');
      this.#connection.control('release one_write');
      return { kind: 'failed', error };
    }
  }

  #commit(): void {
    try {
      this.#connection.control('commit');
    } catch (error) {
      if (isIoError(error)) this.#die(error);
      throw error;
    }
  }

  #rollback(): void {
    try {
      if (this.#connection.isTransaction) this.#connection.control('rollback');
    } catch (error) {
      this.#die(error);
    }
  }

  #die(cause: unknown): void {
    const message = 'The disk failed while a change was made durable. The process ends; start it again.';
    const refusal = new CodedError('unavailable', { message, cause });
    this.#refusal = refusal;
    rejectAll(this.#pending.splice(0), refusal);
    this.#onFatal(refusal);
  }
}

function answer(batch: readonly PendingWrite[], outcomes: readonly Outcome[]): void {
  outcomes.forEach((outcome, index) => {
    const write = batch[index];
    if (outcome.kind === 'done') write?.resolve(outcome.value as never);
    else write?.reject(toStoreError(outcome.error));
  });
}

function rejectAll(batch: readonly PendingWrite[], error: Error): void {
  for (const write of batch) write.reject(error);
}
