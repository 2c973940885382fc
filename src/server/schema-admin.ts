import { existsSync, realpathSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { Database } from '../store/postgres/database.ts';
import { migrationPort as postgresPort } from '../store/postgres/migration-port.ts';
import { createPool } from '../store/postgres/pool.ts';
import { postgresDialect } from '../store/sql/dialect.ts';
import { type MigrationPort, type MigrationStatus, migrationStatus, planMigrations } from '../store/sql/migrate.ts';
import { Connection } from '../store/sqlite/connection.ts';
import { migrationPort as sqlitePort } from '../store/sqlite/migration-port.ts';
import { openStore } from './open-store.ts';

/** What an operator may ask about a store's schema before any server runs on it. */
export interface SchemaAdmin {
  readonly status: MigrationStatus;
  /** The statements that `up` would run. */
  readonly plan: readonly string[];
}

const BUSY_MS = 2_000;

/**
 * Reads the schema of a store and what this code would do to it. Writes nothing, and a database file that does not exist is
 * not made; a server may run meanwhile.
 */
export async function readSchema(
  store: string,
  parts: { readonly clock: Clock; readonly logger: Logger },
): Promise<SchemaAdmin> {
  if (store.startsWith('sqlite:')) return await readSqlite(store.slice('sqlite:'.length), parts.clock);
  if (/^postgres(ql)?:\/\//.test(store)) return await readPostgres(store, parts);
  throw new CodedError('invalid_argument', {
    message: 'Only sqlite:PATH and postgres://… have a schema; memory is new with each start.',
  });
}

/** Brings the schema up to date. The versions that were applied; a server on the same SQLite file refuses it. */
export async function migrateStore(
  store: string,
  parts: { readonly clock: Clock; readonly logger: Logger },
): Promise<SchemaAdmin> {
  await readSchema(store, parts);
  const opened = await openStore(store, { ...parts, migrate: true });
  await opened.close();
  return await readSchema(store, parts);
}

async function readSqlite(path: string, clock: Clock): Promise<SchemaAdmin> {
  const isThere = existsSync(path);
  const connection = new Connection(isThere ? realpathSync(path) : ':memory:', { readOnly: isThere, busyMs: BUSY_MS });
  try {
    return await read(sqlitePort(connection, clock));
  } finally {
    connection.close();
  }
}

async function readPostgres(url: string, { logger }: { readonly logger: Logger }): Promise<SchemaAdmin> {
  const schema = 'holdfast';
  const database = new Database(createPool({ url, connectionsMax: 1, logger }));
  try {
    return await read(postgresPort({ d: postgresDialect(schema), database }, schema));
  } finally {
    await database.close();
  }
}

async function read(port: MigrationPort): Promise<SchemaAdmin> {
  return { status: await migrationStatus(port), plan: await planMigrations(port) };
}
