import type pg from 'pg';
import { CodedError } from '../../base/errors.ts';
import { escapeText } from '../sql/text-escape.ts';
import { classifyFailure, type Failure, markLost, toStoreError } from './errors.ts';
import { applySettings, isDirect } from './pool.ts';

/** One statement with the values of its `$1`, `$2` … */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

export type Row = Readonly<Record<string, unknown>>;

/** Runs statements, one after the other, in the transaction that is open; the rows of each. */
export type RunStatements = (statements: readonly Statement[]) => Promise<(readonly Row[])[]>;

const BEGIN = {
  write: 'begin isolation level read committed read write',
  read: 'begin isolation level repeatable read read only',
};
type Mode = keyof typeof BEGIN;

/** Statements that are prepared on a connection. Their texts differ only in what a write changes, so there are some dozens. */
const PREPARED_MAX = 256;

/** Tries of a transaction that can be done again: a deadlock's victim, or one whose repetition is harmless. */
const TRIES_MAX = 4;

/**
 * Transactions on a pool of connections. A transaction is a list of statements that is sent at once and answered at
 * once; none waits for another's answer, so no lock is held while this process thinks, or is stopped. Nothing in here
 * takes a second connection while it holds one, so a pool of one is enough.
 */
export class Database {
  readonly #pool: pg.Pool;
  readonly #inHand = new Set<Promise<unknown>>();
  /** Names of prepared statements by their text; the same on every connection. */
  readonly #names = new Map<string, string>();
  #closed: Promise<void> | undefined;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /**
   * All of the statements or none, in order, committed when the promise resolves; the rows of each.
   * `repeatable` says that doing it twice is the same as doing it once, so it is done again after a lost connection;
   * otherwise such a loss is `unavailable`, and the caller, who knows it by `isLost`, finds out what became of it.
   */
  write(
    statements: readonly Statement[],
    options: { readonly repeatable?: boolean } = {},
  ): Promise<(readonly Row[])[]> {
    return this.#retried(options.repeatable === true, () => this.#once('write', statements));
  }

  /** Statements that see one and the same moment. */
  read(statements: readonly Statement[]): Promise<(readonly Row[])[]> {
    return this.#retried(true, () => this.#once('read', statements));
  }

  /** As `read`, where a statement depends on the answer to another. */
  snapshot<T>(work: (run: RunStatements) => Promise<T>): Promise<T> {
    return this.#retried(true, () => this.#interactive('read', work));
  }

  /** As `write`, for cold paths where a statement depends on the answer to another. */
  transaction<T>(work: (run: RunStatements) => Promise<T>): Promise<T> {
    return this.#retried(false, () => this.#interactive('write', work));
  }

  /** Lets every transaction in hand end, takes no other, then closes the connections. */
  close(): Promise<void> {
    this.#closed ??= Promise.allSettled(this.#inHand).then(() => this.#pool.end());
    return this.#closed;
  }

  async #retried<T>(repeatable: boolean, attempt: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw new CodedError('unavailable', { message: 'The store is closed.' });
    const outcome = this.#repeat(repeatable, attempt);
    this.#inHand.add(outcome);
    return outcome.finally(() => this.#inHand.delete(outcome));
  }

  async #repeat<T>(repeatable: boolean, attempt: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt();
      } catch (error) {
        const failure = classifyFailure(error);
        if (tries < TRIES_MAX && mayRepeat(failure, repeatable)) continue;
        throw failure === 'unknown' ? markLost(toStoreError(error)) : toStoreError(error);
      }
    }
  }

  /** A connection that does not open has taken nothing in, and opening it again at once would not help. */
  #connect(): Promise<pg.PoolClient> {
    return this.#pool.connect().catch((cause) => {
      throw new CodedError('unavailable', { cause });
    });
  }

  async #once(mode: Mode, statements: readonly Statement[]): Promise<(readonly Row[])[]> {
    const client = await this.#connect();
    const send = () => statements.map((statement) => client.query(this.#toQuery(client, statement)));
    // A statement on its own is a transaction on its own, where its timeouts are set already.
    if (statements.length === 1 && isDirect(client)) return release(client, await Promise.allSettled(send()));
    const sent = [client.query(beginText(client, mode)), ...send(), client.query('commit')];
    return release(client, await Promise.allSettled(sent)).slice(1, -1);
  }

  async #interactive<T>(mode: Mode, work: (run: RunStatements) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let spoilt = false;
    try {
      await client.query(beginText(client, mode));
      const result = await work(async (statements) =>
        rowsOf(await Promise.allSettled(statements.map((statement) => client.query(this.#toQuery(client, statement))))),
      );
      await client.query('commit');
      return result;
    } catch (error) {
      const isOpen = await client.query('rollback').then(
        () => true,
        () => false,
      );
      spoilt = !isOpen || isSpoilt(error);
      throw error;
    } finally {
      client.release(spoilt);
    }
  }

  /** A statement that is prepared on a connection is parsed and planned there once; that is most of the work of a small one. */
  #toQuery(client: pg.ClientBase, { text, values }: Statement): pg.QueryConfig {
    const query = { text, values: values.map(toParameter) };
    if (!isDirect(client)) return query;
    let name = this.#names.get(text);
    if (name === undefined && this.#names.size < PREPARED_MAX) {
      name = `holdfast_${this.#names.size}`;
      this.#names.set(text, name);
    }
    return name === undefined ? query : { ...query, name };
  }
}

function beginText(client: pg.ClientBase, mode: Mode): string {
  return isDirect(client) ? BEGIN[mode] : `${BEGIN[mode]}; ${applySettings('set local')}`;
}

/** Gives the connection back, and the rows of each answer. */
function release(client: pg.PoolClient, answers: readonly PromiseSettledResult<pg.QueryResult>[]): (readonly Row[])[] {
  const failed = answers.find((answer) => answer.status === 'rejected');
  client.release(failed !== undefined && isSpoilt(failed.reason));
  return rowsOf(answers);
}

/** Whether a connection that met this failure cannot be used again. */
function isSpoilt(error: unknown): boolean {
  const failure = classifyFailure(error);
  return failure === 'unknown' || failure === 'stale';
}

/** The rows of each answer. The first failure is the cause; those behind it only report that the transaction had failed. */
function rowsOf(answers: readonly PromiseSettledResult<pg.QueryResult>[]): (readonly Row[])[] {
  return answers.map((answer) => {
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value.rows;
  });
}

function mayRepeat(failure: Failure, repeatable: boolean): boolean {
  return failure === 'rolled-back' || failure === 'stale' || (failure === 'unknown' && repeatable);
}

/** Texts without what PostgreSQL cannot hold; bytes as a Buffer, which is what `pg` sends as binary. */
function toParameter(value: unknown): unknown {
  if (typeof value === 'string') return escapeText(value);
  if (Array.isArray(value)) return value.map(toParameter);
  if (value instanceof Uint8Array && !Buffer.isBuffer(value)) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  return value;
}
