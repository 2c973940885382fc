/** Every table of ours; a statement names one through `Dialect.table`, never bare. */
type TableName =
  | 'schema_migration'
  | 'installation'
  | 'worker'
  | 'session'
  | 'task'
  | 'turn'
  | 'run'
  | 'step'
  | 'event'
  | 'artifact'
  | 'blob'
  | 'blob_slice'
  | 'idempotency'
  | 'session_state'
  | 'memory'
  | 'memory_text'
  | 'memory_grant'
  | 'audit'
  | 'audit_seal'
  | 'erasure';

export type SqlValue = string | number | bigint | null | Uint8Array | readonly string[] | readonly number[];

/** A statement and its parameters, in the order in which they are numbered. */
export interface Statement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/**
 * What the two SQLs write differently. A statement is a function of it, so that the text of a table's
 * statements stands once and each adapter sees its own spelling.
 */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** The `n`-th parameter, counted from 1. One parameter may stand in several places. */
  param(n: number): string;
  /** The table as it is written in a statement. PostgreSQL names the schema each time: a pooler may keep no search path. */
  table(name: TableName): string;
  /** `in` over one parameter that is a list; `list` makes that parameter. */
  anyOf(n: number): string;
  list(values: readonly string[] | readonly number[]): SqlValue;
  /** The larger of two values. With a null among them SQLite says null and PostgreSQL the other, so neither may be null. */
  greatest(a: string, b: string): string;
  /** The instant that the `n`-th parameter holds; on PostgreSQL the database's own clock where it holds null. */
  moment(n: number): string;
  /**
   * What makes an index one for listings alone, and what a listing says to use it; always true of `no`. PostgreSQL guesses, before it has
   * statistics, that a scope has one row: it would look for a row by walking the listing of its scope as soon as by its own key.
   */
  readonly listingOnly: string;
  inListing(no: string): string;
  /** 64 bits: row numbers, seqs, instants. */
  readonly integer: string;
  /** 32 bits: states, kinds, counters of few. */
  readonly smallint: string;
  readonly bytes: string;
  /** A row number that the store gives out and never gives twice, also after its row is deleted. */
  readonly identity: string;
  /** A row number that may be given again after the newest row was deleted; half the work of an `identity` on SQLite. */
  readonly rowNumber: string;
  /** What ends a table that is found by its row number. */
  readonly rowTable: string;
  /** What ends a table whose primary key is its only index. */
  readonly keyedTable: string;
}

export const sqliteDialect: Dialect = {
  name: 'sqlite',
  param: (n) => `?${n}`,
  table: (name) => name,
  anyOf: (n) => `in (select value from json_each(?${n}))`,
  list: (values) => JSON.stringify(values),
  greatest: (a, b) => `max(${a}, ${b})`,
  moment: (n) => `?${n}`,
  listingOnly: '',
  inListing: () => '',
  integer: 'integer',
  smallint: 'integer',
  bytes: 'blob',
  identity: 'integer primary key autoincrement',
  rowNumber: 'integer primary key',
  rowTable: ' strict',
  keyedTable: ' strict, without rowid',
};

/** PostgreSQL with all tables in `schema`, which must be a plain lower-case name: it is written into statements. */
export function postgresDialect(schema: string): Dialect {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) throw new RangeError(`"${schema}" is not a plain schema name`);
  return {
    name: 'postgres',
    param: (n) => `$${n}`,
    table: (name) => `"${schema}".${name}`,
    anyOf: (n) => `= any ($${n})`,
    list: (values) => values,
    greatest: (a, b) => `greatest(${a}, ${b})`,
    // `clock_timestamp` goes on while a transaction waits; `now()` would be the time at which it began.
    // In a sub-select it is asked once a statement, so an index may be searched by it.
    moment: (n) => `(select coalesce($${n}::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint))`,
    listingOnly: ' where no > 0',
    inListing: (no) => ` and ${no} > 0`,
    integer: 'bigint',
    smallint: 'int',
    bytes: 'bytea',
    identity: 'bigint generated always as identity primary key',
    rowNumber: 'bigint generated always as identity primary key',
    rowTable: '',
    keyedTable: '',
  };
}
