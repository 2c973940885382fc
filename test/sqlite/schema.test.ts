import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { codeVersion } from '../../src/store/sql/migrate.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { testFolder } from './folder.ts';

const clock = createFakeClock();

/** A file with the schema of this code, after `statement`. */
async function fileAfter(statement: string): Promise<string> {
  const path = join(await testFolder(), 'store.db');
  await (await openSqliteStore({ path, clock })).close();
  const database = new DatabaseSync(path);
  database.exec(statement);
  database.close();
  return path;
}

const laterMigration = (codeVersionMin: number): string =>
  `insert into schema_migration values (${codeVersion + 1}, 'later', 'x', ${codeVersionMin}, 0)`;

test('a schema that is newer than the code may touch is refused, and stays as it is', async () => {
  const path = await fileAfter(laterMigration(codeVersion + 1));
  for (const migrate of [true, false]) {
    await expect(openSqliteStore({ path, clock, migrate })).rejects.toMatchObject({
      code: 'unavailable',
      message:
        `The database has schema ${codeVersion + 1}, which needs a Holdfast that knows schema ${codeVersion + 1}; ` +
        `this one knows ${codeVersion}. Start a newer version of Holdfast on this data.`,
    });
  }
});

test('a newer schema that still allows this code is used as it is', async () => {
  const path = await fileAfter(laterMigration(codeVersion));
  const store = await openSqliteStore({ path, clock });
  expect((await store.installation()).schemaVersion).toBe(codeVersion + 1);
  await store.close();
});

test('a migration that is another one under the same number is refused', async () => {
  const path = await fileAfter("update schema_migration set checksum = 'other' where version = 1");
  await expect(openSqliteStore({ path, clock })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('Migration 1 (init) of the database is not the one'),
  });
});

test('without migrate an empty file is refused by a line that says what to do', async () => {
  const path = join(await testFolder(), 'store.db');
  await expect(openSqliteStore({ path, clock, migrate: false })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('Run "holdfast admin migrate up"'),
  });
  await (await openSqliteStore({ path, clock })).close();
  await (await openSqliteStore({ path, clock, migrate: false })).close();
});

test('a file that is no database is refused, and can be opened by nobody afterwards either', async () => {
  const path = join(await testFolder(), 'store.db');
  await writeFile(path, 'this is no database, but it is long enough to be asked for its header '.repeat(100));
  for (let count = 0; count < 2; count += 1) {
    await expect(openSqliteStore({ path, clock })).rejects.toMatchObject({ code: 'unavailable' });
  }
});
