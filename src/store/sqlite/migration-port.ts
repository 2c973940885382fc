import type { Clock } from '../../base/clock.ts';
import { type Statement, sqliteDialect } from '../sql/dialect.ts';
import { type AppliedMigration, type MigrationPort, type MigrationTx, selectMigrations } from '../sql/migrate.ts';
import type { Connection } from './connection.ts';

const SELECT_TABLE = "select 1 as found from sqlite_master where type = 'table' and name = 'schema_migration'";

/** Migrations on a connection that nobody else uses meanwhile. */
export function migrationPort(connection: Connection, clock: Clock): MigrationPort {
  const readApplied = async (): Promise<readonly AppliedMigration[]> => {
    if (connection.one(SELECT_TABLE) === undefined) return [];
    return connection.readAll<AppliedMigration>(selectMigrations(sqliteDialect));
  };
  const tx: MigrationTx = {
    readApplied,
    run: async (statement: Statement) => {
      connection.write(statement);
    },
  };
  return {
    dialect: sqliteDialect,
    now: async () => clock.now(),
    readApplied,
    exclusively: async (work) => {
      connection.exec('begin immediate');
      try {
        await work(tx);
        connection.exec('commit');
      } catch (error) {
        if (connection.isTransaction) connection.exec('rollback');
        throw error;
      }
    },
  };
}
