import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { Statement } from '../sql/dialect.ts';
import { escapeText, unescapeText } from '../sql/text-escape.ts';

export type Value = string | number | bigint | null | Uint8Array;

export interface ConnectionOptions {
  readonly readOnly?: boolean;
  /** How long a statement waits, with the whole process, for a lock that another program holds. */
  readonly busyMs: number;
}

/**
 * One connection and its prepared statements, which are kept by their text. Texts go in escaped and come out unescaped,
 * since SQLite's UTF-8 has no place for half a surrogate pair; the `Raw` forms leave that out for values that are known to have none.
 */
export class Connection {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #changes = 0;

  constructor(path: string, options: ConnectionOptions) {
    this.#database = new DatabaseSync(path, { readOnly: options.readOnly ?? false, timeout: options.busyMs });
  }

  get isTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /** Grows with every row that is written; where it stands still, nothing was. */
  get changes(): number {
    return this.#changes;
  }

  /** Several statements at once, without values. */
  exec(text: string): void {
    this.#database.exec(text);
  }

  /** Rows changed. */
  run(text: string, ...values: Value[]): number {
    const changes = Number(this.#prepared(text).run(...escaped(values)).changes);
    this.#changes += changes;
    return changes;
  }

  /** The row number that an insert was given. */
  insert(text: string, ...values: Value[]): number {
    const { lastInsertRowid } = this.#prepared(text).run(...escaped(values));
    this.#changes += 1;
    return Number(lastInsertRowid);
  }

  insertRaw(text: string, ...values: Value[]): void {
    this.#prepared(text).run(...values);
    this.#changes += 1;
  }

  /** `begin`, `commit` and their like. */
  control(text: string): void {
    this.#prepared(text).run();
  }

  /** The row that an insert or update returns. */
  change<Row extends object>(text: string, ...values: Value[]): Row | undefined {
    const row = this.one<Row>(text, ...values);
    if (row !== undefined) this.#changes += 1;
    return row;
  }

  /** The rows that an insert, update or delete returns. */
  changeAll<Row extends object>(statement: Statement): Row[] {
    const rows = this.readAll<Row>(statement);
    this.#changes += rows.length;
    return rows;
  }

  one<Row extends object>(text: string, ...values: Value[]): Row | undefined {
    const row = this.#prepared(text).get(...escaped(values)) as Row | undefined;
    return row === undefined ? undefined : unescapedRow(row);
  }

  all<Row extends object>(text: string, ...values: Value[]): Row[] {
    const rows = this.#prepared(text).all(...escaped(values)) as Row[];
    for (const row of rows) unescapedRow(row);
    return rows;
  }

  allRaw<Row extends object>(text: string, ...values: Value[]): Row[] {
    return this.#prepared(text).all(...values) as Row[];
  }

  /** Rows one by one, so that a reader may stop early. */
  eachRaw<Row extends object>(text: string, ...values: Value[]): Iterable<Row> {
    return this.#prepared(text).iterate(...values) as Iterable<Row>;
  }

  readOne<Row extends object>(statement: Statement): Row | undefined {
    return this.one<Row>(statement.text, ...(statement.values as Value[]));
  }

  readAll<Row extends object>(statement: Statement): Row[] {
    return this.all<Row>(statement.text, ...(statement.values as Value[]));
  }

  /** Rows changed. */
  write(statement: Statement): number {
    return this.run(statement.text, ...(statement.values as Value[]));
  }

  /** Reads of one moment. Synchronous to the end, so that no read transaction outlives it and holds back the checkpoint. */
  snapshot<T>(work: () => T): T {
    this.control('begin');
    try {
      return work();
    } finally {
      if (this.isTransaction) this.control('commit');
    }
  }

  close(): void {
    this.#statements.clear();
    if (this.#database.isOpen) this.#database.close();
  }

  #prepared(text: string): StatementSync {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }
}

/** `values` is the call's own array, so it is changed in place. */
function escaped(values: Value[]): SQLInputValue[] {
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    if (typeof value === 'string') values[index] = escapeText(value);
  }
  return values;
}

function unescapedRow<Row extends object>(row: Row): Row {
  const columns = row as Record<string, unknown>;
  for (const name in columns) {
    const value = columns[name];
    if (typeof value !== 'string') continue;
    const text = unescapeText(value);
    if (text !== value) columns[name] = text;
  }
  return row;
}
