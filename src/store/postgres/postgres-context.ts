import { type Clock, type Instant, instant } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Dialect } from '../sql/dialect.ts';
import type { Database, RunStatements } from './database.ts';
import type { LostGrants } from './lost-grants.ts';

/** What every part of this adapter works with. */
export interface PostgresContext {
  readonly d: Dialect;
  readonly database: Database;
  /** Runs that may have been granted to this process without its knowing. */
  readonly lostGrants: LostGrants;
  readonly random: Random;
  /** In place of the database's clock. */
  readonly clock?: Clock;
}

/** What a migration works with: there are no tables yet. */
export type SchemaContext = Pick<PostgresContext, 'd' | 'database' | 'clock'>;

/** The value of a statement's `moment`: null asks the database. */
export function nowOf(context: Pick<PostgresContext, 'clock'>): number | null {
  return context.clock?.now() ?? null;
}

/** The store's clock, for statements that count from a time they are given. It is asked first, so what they grant is rather too short than too long. */
export function readNow(context: SchemaContext): Promise<Instant> {
  return askNow(context, (statements) => context.database.read(statements));
}

/** As `readNow`, in a transaction that is open. */
export async function askNow(context: SchemaContext, run: RunStatements): Promise<Instant> {
  const [rows] = await run([{ text: `select ${context.d.moment(1)} as now`, values: [nowOf(context)] }]);
  return instant(rows?.[0]?.now as number);
}
