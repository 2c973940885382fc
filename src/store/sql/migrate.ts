import { createHash } from 'node:crypto';
import type { Instant } from '../../base/clock.ts';
import { CodedError } from '../../base/errors.ts';
import type { Dialect, Statement } from './dialect.ts';
import type { Migration } from './migration.ts';
import { initMigration } from './migrations/0001-init.ts';

/** All of them, oldest first. */
export const migrations: readonly Migration[] = [initMigration];

/** What this code is, seen from the schema: the newest migration it knows. */
export const codeVersion: number = versionOf(migrations);

/** A row of `schema_migration`. */
export interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly code_version_min: number;
  readonly applied_at: number;
}

/** One connection, inside one transaction that no other migration runs beside. */
export interface MigrationTx {
  /** Rows of `schema_migration` by version; none when there is no such table. */
  readApplied(): Promise<readonly AppliedMigration[]>;
  run(statement: Statement): Promise<void>;
}

/** What `migrateUp` needs of an adapter. */
export interface MigrationPort {
  readonly dialect: Dialect;
  now(): Promise<Instant>;
  readApplied(): Promise<readonly AppliedMigration[]>;
  /** Commits when `work` resolves, else rolls back. Whoever else migrates the same schema waits meanwhile. */
  exclusively(work: (tx: MigrationTx) => Promise<void>): Promise<void>;
}

export interface MigrationStatus {
  readonly codeVersion: number;
  /** 0 when nothing was applied. */
  readonly schemaVersion: number;
  readonly applied: readonly { readonly version: number; readonly name: string; readonly appliedAt: number }[];
  readonly pending: readonly { readonly version: number; readonly name: string }[];
}

/** What is applied and what is not. Throws as `checkApplied` does. */
export async function migrationStatus(
  port: MigrationPort,
  known: readonly Migration[] = migrations,
): Promise<MigrationStatus> {
  const applied = await port.readApplied();
  checkApplied(port.dialect, applied, known);
  return {
    codeVersion: versionOf(known),
    schemaVersion: versionOf(applied),
    applied: applied.map(({ version, name, applied_at }) => ({ version, name, appliedAt: applied_at })),
    pending: pendingOf(applied, known).map(({ version, name }) => ({ version, name })),
  };
}

/** The statements that `migrateUp` would run, in order. */
export async function planMigrations(
  port: MigrationPort,
  known: readonly Migration[] = migrations,
): Promise<readonly string[]> {
  const applied = await port.readApplied();
  checkApplied(port.dialect, applied, known);
  return pendingOf(applied, known).flatMap((migration) => migration.statements(port.dialect));
}

/**
 * Brings the schema to this code's version, all or nothing; a schema that is newer but still allows this code stays.
 * Returns the versions that were applied. Two processes that call it at once apply each migration once.
 */
export async function migrateUp(
  port: MigrationPort,
  known: readonly Migration[] = migrations,
): Promise<readonly number[]> {
  const before = await port.readApplied();
  checkApplied(port.dialect, before, known);
  if (pendingOf(before, known).length === 0) return [];
  const done: number[] = [];
  await port.exclusively(async (tx) => {
    const applied = await tx.readApplied();
    checkApplied(port.dialect, applied, known);
    if (applied.length === 0) await tx.run({ text: createMigrationTable(port.dialect), values: [] });
    for (const migration of pendingOf(applied, known)) {
      for (const text of migration.statements(port.dialect)) await tx.run({ text, values: [] });
      await tx.run(insertMigration(port.dialect, migration, await port.now()));
      done.push(migration.version);
    }
  });
  return done;
}

/** Refuses a schema that has to be migrated first; for `--no-migrate`. */
export async function requireMigrated(port: MigrationPort, known: readonly Migration[] = migrations): Promise<void> {
  const { schemaVersion, pending } = await migrationStatus(port, known);
  if (pending.length === 0) return;
  throw refusal(
    `The database has schema ${schemaVersion}, this version of Holdfast needs ${versionOf(known)}. ` +
      'Run "holdfast admin migrate up", or start without --no-migrate.',
  );
}

/** Refuses a schema that this code must not touch: one that is too new for it, or whose migrations are not the ones it knows. */
function checkApplied(
  d: Dialect,
  applied: readonly AppliedMigration[],
  known: readonly Migration[] = migrations,
): void {
  const codeVersionMin = Math.max(0, ...applied.map((row) => row.code_version_min));
  if (codeVersionMin > versionOf(known)) {
    throw refusal(
      `The database has schema ${versionOf(applied)}, which needs a Holdfast that knows schema ${codeVersionMin}; ` +
        `this one knows ${versionOf(known)}. Start a newer version of Holdfast on this data.`,
    );
  }
  for (const row of applied) {
    const migration = known.find((candidate) => candidate.version === row.version);
    if (migration !== undefined && checksumOf(d, migration) !== row.checksum) {
      throw refusal(
        `Migration ${row.version} (${row.name}) of the database is not the one that this version of Holdfast knows. ` +
          'The data was made by another build; use the build that made it.',
      );
    }
  }
}

/** Identifies a migration's text on one dialect. The schema's name is not part of it: the same data may move to another. */
export function checksumOf(d: Dialect, migration: Migration): string {
  const nameless: Dialect = { ...d, table: (name) => name };
  return createHash('sha256').update(migration.statements(nameless).join(';\n')).digest('hex');
}

export function selectMigrations(d: Dialect): Statement {
  const text = `select version, name, checksum, code_version_min, applied_at
    from ${d.table('schema_migration')}
    order by version`;
  return { text, values: [] };
}

function createMigrationTable(d: Dialect): string {
  return `create table ${d.table('schema_migration')} (
    version ${d.integer} primary key,
    name text not null,
    checksum text not null,
    code_version_min ${d.integer} not null,
    applied_at ${d.integer} not null
  )${d.rowTable}`;
}

function insertMigration(d: Dialect, migration: Migration, now: Instant): Statement {
  const text = `insert into ${d.table('schema_migration')} (version, name, checksum, code_version_min, applied_at)
    values (${d.param(1)}, ${d.param(2)}, ${d.param(3)}, ${d.param(4)}, ${d.param(5)})`;
  return { text, values: [migration.version, migration.name, checksumOf(d, migration), migration.codeVersionMin, now] };
}

function pendingOf(applied: readonly AppliedMigration[], known: readonly Migration[]): readonly Migration[] {
  const newest = versionOf(applied);
  return known.filter((migration) => migration.version > newest);
}

function versionOf(rows: readonly { readonly version: number }[]): number {
  return rows.at(-1)?.version ?? 0;
}

function refusal(message: string): CodedError {
  return new CodedError('unavailable', { message });
}
