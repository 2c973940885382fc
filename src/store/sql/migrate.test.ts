import { expect, test } from 'vitest';
import { instant } from '../../base/clock.ts';
import { postgresDialect, type Statement, sqliteDialect } from './dialect.ts';
import {
  type AppliedMigration,
  checksumOf,
  type MigrationPort,
  migrateUp,
  migrationStatus,
  migrations,
  planMigrations,
  requireMigrated,
} from './migrate.ts';
import type { Migration } from './migration.ts';

const first: Migration = { version: 1, name: 'one', codeVersionMin: 1, statements: () => ['create a', 'create b'] };
const second: Migration = { version: 2, name: 'two', codeVersionMin: 1, statements: () => ['create c'] };

/** A database that keeps the rows of `schema_migration` and the text of whatever else it is told. */
function createPort() {
  const rows: AppliedMigration[] = [];
  const texts: string[] = [];
  let turn = Promise.resolve();
  const run = async ({ text, values }: Statement): Promise<void> => {
    if (!text.startsWith('insert into schema_migration')) {
      texts.push(text);
      return;
    }
    const [version, name, checksum, code_version_min, applied_at] = values as [number, string, string, number, number];
    rows.push({ version, name, checksum, code_version_min, applied_at });
  };
  const port: MigrationPort = {
    dialect: sqliteDialect,
    now: async () => instant(5),
    readApplied: async () => [...rows],
    exclusively: (work) => {
      turn = turn.then(() => work({ readApplied: async () => [...rows], run }));
      return turn;
    },
  };
  return { port, rows, texts };
}

test('runs what is missing, in order, and nothing twice', async () => {
  const { port, rows, texts } = createPort();
  expect(await planMigrations(port, [first, second])).toEqual(['create a', 'create b', 'create c']);
  expect(texts).toEqual([]);
  expect(await migrateUp(port, [first])).toEqual([1]);
  expect(await migrateUp(port, [first, second])).toEqual([2]);
  expect(await migrateUp(port, [first, second])).toEqual([]);
  expect(texts.filter((text) => text.startsWith('create ') && !text.includes('schema_migration'))).toEqual([
    'create a',
    'create b',
    'create c',
  ]);
  expect(rows.map(({ version }) => version)).toEqual([1, 2]);
  expect(await migrationStatus(port, [first, second])).toEqual({
    codeVersion: 2,
    schemaVersion: 2,
    applied: [
      { version: 1, name: 'one', appliedAt: 5 },
      { version: 2, name: 'two', appliedAt: 5 },
    ],
    pending: [],
  });
});

test('two at once apply each migration once', async () => {
  const { port, rows } = createPort();
  const done = await Promise.all([migrateUp(port, [first, second]), migrateUp(port, [first, second])]);
  expect(done.flat()).toEqual([1, 2]);
  expect(rows).toHaveLength(2);
});

test('an older schema is refused where nobody may migrate it', async () => {
  const { port } = createPort();
  await migrateUp(port, [first]);
  await requireMigrated(port, [first]);
  await expect(requireMigrated(port, [first, second])).rejects.toMatchObject({
    code: 'unavailable',
    message:
      'The database has schema 1, this version of Holdfast needs 2. Run "holdfast admin migrate up", or start without --no-migrate.',
  });
});

test('code that is too old for the schema is refused; code that is merely older is not', async () => {
  const { port } = createPort();
  await migrateUp(port, [first, second]);
  expect((await migrationStatus(port, [first])).schemaVersion).toBe(2);
  const breaking: Migration = { ...second, version: 3, codeVersionMin: 3 };
  await migrateUp(port, [first, second, breaking]);
  for (const refused of [migrateUp(port, [first]), migrationStatus(port, [first]), planMigrations(port, [first])]) {
    await expect(refused).rejects.toMatchObject({
      code: 'unavailable',
      message:
        'The database has schema 3, which needs a Holdfast that knows schema 3; this one knows 1. Start a newer version of Holdfast on this data.',
    });
  }
});

test('another text under a known number is refused', async () => {
  const { port } = createPort();
  await migrateUp(port, [first]);
  const edited: Migration = { ...first, statements: () => ['create other'] };
  await expect(migrateUp(port, [edited])).rejects.toThrow('Migration 1 (one) of the database is not the one');
});

test('a checksum tells dialects apart and not the names of schemas', () => {
  const [init] = migrations as [Migration];
  const ofA = checksumOf(postgresDialect('a'), init);
  expect(checksumOf(postgresDialect('b'), init)).toBe(ofA);
  expect(checksumOf(sqliteDialect, init)).not.toBe(ofA);
});

test('a schema name is written into statements, so it is plain or refused', () => {
  for (const name of ['', 'A', 'a-b', 'a"b', 'a.b', '1a', 'x'.repeat(64)]) {
    expect(() => postgresDialect(name)).toThrow(RangeError);
  }
  expect(postgresDialect('tenant_1').table('task')).toBe('"tenant_1".task');
});
