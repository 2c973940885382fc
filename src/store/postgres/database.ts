import type pg from 'pg';
import { CodedError } from '../../base/errors.ts';
import { escapeText } from '../sql/text-escape.ts';
import { classifyFailure, type Failure, toStoreError } from './errors.ts';

/** One statement with the values of its `$1`, `$2` … */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

export type Row = Readonly<Record<string, unknown>>;

/** Runs statements, one after the other, in the transaction that is open; the rows of each. */
export type RunStatements = (statements: readonly Statement[]) => Promise<(readonly Row[])[]>;

/**
 * Timeouts belong to the transaction and not to the connection, which may be another one behind a pgbouncer.
 * A transaction waits 2 s for a row that another holds, a statement may take 10 s,
 * and a process that stops in the middle of a transaction loses it, with its locks, after 5 s.
 */
const TIMEOUTS =
  'set local lock_timeout = 2000; set local statement_timeout = 10000; set local idle_in_transaction_session_timeout = 5000';
const BEGIN_WRITE = `begin isolation level read committed read write; ${TIMEOUTS}`;
const BEGIN_READ = `begin isolation level repeatable read read only; ${TIMEOUTS}`;

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
  #closed: Promise<void> | undefined;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /**
   * All of the statements or none, in order, committed when the promise resolves; the rows of each.
   * `repeatable` says that doing it twice is the same as doing it once, so it is done again after a lost connection;
   * otherwise such a loss is `unavailable`, and the caller finds out what became of it.
   */
  write(
    statements: readonly Statement[],
    options: { readonly repeatable?: boolean } = {},
  ): Promise<(readonly Row[])[]> {
    return this.#retried(options.repeatable === true, () => this.#once(BEGIN_WRITE, statements));
  }

  /** Statements that see one and the same moment. */
  read(statements: readonly Statement[]): Promise<(readonly Row[])[]> {
    return this.#retried(true, () => this.#once(BEGIN_READ, statements));
  }

  /** As `read`, where a statement depends on the answer to another. */
  snapshot<T>(work: (run: RunStatements) => Promise<T>): Promise<T> {
    return this.#retried(true, () => this.#interactive(BEGIN_READ, work));
  }

  /** As `write`, for cold paths where a statement depends on the answer to another. */
  transaction<T>(work: (run: RunStatements) => Promise<T>): Promise<T> {
    return this.#retried(false, () => this.#interactive(BEGIN_WRITE, work));
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
        if (tries === TRIES_MAX || !mayRepeat(classifyFailure(error), repeatable)) throw toStoreError(error);
      }
    }
  }

  /** A connection that does not open has taken nothing in, and opening it again at once would not help. */
  #connect(): Promise<pg.PoolClient> {
    return this.#pool.connect().catch((cause) => {
      throw new CodedError('unavailable', { cause });
    });
  }

  async #once(begin: string, statements: readonly Statement[]): Promise<(readonly Row[])[]> {
    const client = await this.#connect();
    const answers = await Promise.allSettled([
      client.query(begin),
      ...statements.map((statement) => client.query(toQuery(statement))),
      client.query('commit'),
    ]);
    const failed = answers.find((answer) => answer.status === 'rejected');
    client.release(failed !== undefined && classifyFailure(failed.reason) === 'unknown');
    return rowsOf(answers).slice(1, -1);
  }

  async #interactive<T>(begin: string, work: (run: RunStatements) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let isLost = false;
    try {
      await client.query(begin);
      const result = await work(async (statements) =>
        rowsOf(await Promise.allSettled(statements.map((statement) => client.query(toQuery(statement))))),
      );
      await client.query('commit');
      return result;
    } catch (error) {
      isLost = !(await client.query('rollback').then(
        () => true,
        () => false,
      ));
      throw error;
    } finally {
      client.release(isLost);
    }
  }
}

/** The rows of each answer. The first failure is the cause; those behind it only report that the transaction had failed. */
function rowsOf(answers: readonly PromiseSettledResult<pg.QueryResult>[]): (readonly Row[])[] {
  return answers.map((answer) => {
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value.rows;
  });
}

function mayRepeat(failure: Failure, repeatable: boolean): boolean {
  return failure === 'rolled-back' || (failure === 'unknown' && repeatable);
}

function toQuery(statement: Statement): { readonly text: string; readonly values: unknown[] } {
  return { text: statement.text, values: statement.values.map(toParameter) };
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
