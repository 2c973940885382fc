import type { AppliedMigration, MigrationPort, MigrationTx } from '../sql/migrate.ts';
import { selectMigrations } from '../sql/migrate.ts';
import type { RunStatements } from './database.ts';
import { askNow, readNow, type SchemaContext } from './postgres-context.ts';

/** Names our lock among those of other users of the database; the second half is the schema's. */
const MIGRATION_LOCK = 0x686f6c64;

/** What `sql/migrate` needs. `schema` is created where it is missing. */
export function migrationPort(context: SchemaContext, schema: string): MigrationPort {
  const { d, database } = context;
  const readApplied = (run: RunStatements): Promise<readonly AppliedMigration[]> => readMigrations(context, run);
  // While a migration is open, the time is asked on its connection: there may be no other.
  let migrating: RunStatements | undefined;
  return {
    dialect: d,
    now: () => (migrating === undefined ? readNow(context) : askNow(context, migrating)),
    readApplied: () => database.snapshot(readApplied),
    exclusively: (work) =>
      database.transaction(async (run) => {
        // A lock that ends with the transaction. Whoever waits for it waits longer than for a row.
        await run([
          { text: 'set local lock_timeout = 0', values: [] },
          { text: 'set local statement_timeout = 0', values: [] },
          { text: 'select pg_advisory_xact_lock($1, hashtext($2))', values: [MIGRATION_LOCK, schema] },
          { text: `create schema if not exists "${schema}"`, values: [] },
        ]);
        const tx: MigrationTx = {
          readApplied: () => readApplied(run),
          run: async (statement) => {
            await run([statement]);
          },
        };
        migrating = run;
        await work(tx).finally(() => {
          migrating = undefined;
        });
      }),
  };
}

async function readMigrations(context: SchemaContext, run: RunStatements): Promise<readonly AppliedMigration[]> {
  const name = context.d.table('schema_migration');
  const [rows] = await run([{ text: 'select to_regclass($1) is not null as known', values: [name] }]);
  if (rows?.[0]?.known !== true) return [];
  const [applied] = await run([selectMigrations(context.d)]);
  return (applied ?? []) as unknown as readonly AppliedMigration[];
}
