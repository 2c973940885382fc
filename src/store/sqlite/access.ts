import type { Clock, Instant } from '../../base/clock.ts';
import { CodedError } from '../../base/errors.ts';
import type { Connection } from './connection.ts';
import type { FileWatch } from './file-watch.ts';
import { toStoreError } from './sqlite-errors.ts';
import type { WriteQueue } from './write-queue.ts';

/** A closure on the writing connection, inside a transaction; it may run more than once. */
export type WriteWork<T> = (tx: Connection, now: Instant) => T;

/**
 * The two ways to the data. Writes go through the queue of the writing connection. Reads have a connection of their own,
 * since the writer's would show what is not committed yet; they are synchronous, so none is open while anything else runs.
 */
export class Access {
  readonly clock: Clock;
  readonly #writer: Connection;
  readonly #reader: Connection;
  readonly #queue: WriteQueue;
  readonly #file: FileWatch;
  #isClosed = false;

  constructor(parts: {
    readonly clock: Clock;
    readonly writer: Connection;
    readonly reader: Connection;
    readonly queue: WriteQueue;
    readonly file: FileWatch;
  }) {
    this.clock = parts.clock;
    this.#writer = parts.writer;
    this.#reader = parts.reader;
    this.#queue = parts.queue;
    this.#file = parts.file;
  }

  /** The store's clock; throws `unavailable` where nothing could be written. */
  now(): Instant {
    const fault = this.#file.check();
    if (fault !== undefined) throw fault;
    return this.clock.now();
  }

  /** What `work` finds is of one moment, after every write whose promise has resolved. */
  async read<T>(work: (db: Connection) => T): Promise<T> {
    if (this.#isClosed) throw new CodedError('unavailable', { message: 'The store is closed.' });
    try {
      return this.#reader.snapshot(() => work(this.#reader));
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Resolves when what `work` wrote is durable. `bytes` is about how much that is. */
  write<T>(bytes: number, work: WriteWork<T>): Promise<T> {
    return this.#queue.write(bytes, () => work(this.#writer, this.clock.now()));
  }

  /** Commits what is in hand, then closes both connections; the writer last, which folds the write-ahead log into the file. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#queue.close();
    this.#reader.close();
    this.#writer.close();
  }
}
