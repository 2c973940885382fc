import type { Dialect } from '../sql/dialect.ts';

/** Collects the values of a statement while its text is written: `add` returns the place that stands for the value. */
export class Parameters {
  readonly values: unknown[] = [];

  /** `$n`, or `$n::type` where PostgreSQL could not tell the type from the context. */
  add(value: unknown, type?: 'bigint' | 'int' | 'text' | 'bytea' | 'bigint[]' | 'int[]' | 'text[]'): string {
    this.values.push(value);
    return type === undefined ? `$${this.values.length}` : `$${this.values.length}::${type}`;
  }
}

/** Columns of rows that travel as arrays: `unnest(…) as alias (names)`. */
export function unnest(p: Parameters, alias: string, columns: readonly ArrayColumn[]): string {
  const arrays = columns.map((column) => ('sql' in column ? column.sql : p.add(column.values, column.type)));
  return `unnest(${arrays.join(', ')}) as ${alias} (${columns.map(({ name }) => name).join(', ')})`;
}

export type ArrayColumn = { readonly name: string } & (
  | { readonly type: 'bigint[]' | 'int[]' | 'text[]'; readonly values: readonly unknown[] }
  /** An array that a statement makes itself. */
  | { readonly sql: string }
);

/** The store's clock: the database's, so that all nodes agree, unless a test brings one of its own. */
export function moment(d: Dialect, p: Parameters, now: number | null): string {
  p.values.push(now);
  return d.moment(p.values.length);
}
