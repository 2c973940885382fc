import { copyFile, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { startStoreProcess, testFolder } from './folder.ts';

const clock = createFakeClock();

const inUse = (path: string, pid: number): string =>
  `${path} is in use by process ${pid}. SQLite allows one process; use another folder, or PostgreSQL for several.`;

test('a second process is refused, by name of the first, until that one dies', async () => {
  const path = join(await testFolder(), 'store.db');
  const owner = await startStoreProcess('hold', path);
  const refused = { code: 'unavailable', message: inUse(path, owner.pid) };
  await expect(openSqliteStore({ path, clock })).rejects.toMatchObject(refused);
  // Nothing that the refused one opened and closed has taken the lock away.
  await expect(openSqliteStore({ path, clock })).rejects.toMatchObject(refused);
  await owner.kill();
  const store = await openSqliteStore({ path, clock });
  expect(await readFile(`${path}-pid`, 'utf8')).toBe(`${process.pid}\n`);
  await store.close();
});

test('a second store of one process is refused too, under any name of the file', async () => {
  const folder = await testFolder();
  const path = join(folder, 'store.db');
  const store = await openSqliteStore({ path, clock });
  await symlink(path, join(folder, 'link.db'));
  for (const name of ['store.db', 'link.db']) {
    await expect(openSqliteStore({ path: join(folder, name), clock })).rejects.toMatchObject({
      message: inUse(path, process.pid),
    });
  }
  await store.close();
  await (await openSqliteStore({ path: join(folder, 'link.db'), clock })).close();
});

test('a lock file whose process left no number is refused without one', async () => {
  const path = join(await testFolder(), 'store.db');
  const store = await openSqliteStore({ path, clock });
  await writeFile(`${path}-pid`, 'no number');
  await expect(openSqliteStore({ path, clock })).rejects.toMatchObject({
    message: `${path} is in use by another process. SQLite allows one process; use another folder, or PostgreSQL for several.`,
  });
  await store.close();
});

test('the folder is made, and nobody else may read what is in it', async () => {
  const folder = join(await testFolder(), 'a', 'b');
  const store = await openSqliteStore({ path: join(folder, 'store.db'), clock });
  await store.buryWorkers({ all: true });
  const names = await dataFiles(folder);
  expect(names.sort()).toEqual(['store.db', 'store.db-pid', 'store.db-shm', 'store.db-wal']);
  for (const name of names) expect([name, (await stat(join(folder, name))).mode & 0o777]).toEqual([name, 0o600]);
  await store.close();
  expect(await dataFiles(folder)).toEqual(['store.db']);
});

/** The lock file and its journal hold nothing of anybody. */
async function dataFiles(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => !name.startsWith('store.db-owner'));
}

test('the same data has the same incarnation; a copy, and an older file put back, have another', async () => {
  const folder = await testFolder();
  const path = join(folder, 'store.db');
  const lives = async (at: string) => {
    const store = await openSqliteStore({ path: at, clock });
    const installation = await store.installation();
    await store.close();
    return installation;
  };
  const first = await lives(path);
  expect(await lives(path)).toEqual(first);
  await copyFile(path, join(folder, 'backup.db'));
  expect(await lives(path)).toEqual(first);

  const copied = await lives(join(folder, 'backup.db'));
  expect(copied.id).toBe(first.id);
  expect(copied.incarnation).not.toBe(first.incarnation);
  await copyFile(path, join(folder, 'older.db'));
  await lives(path);
  await copyFile(join(folder, 'older.db'), path);
  const restored = await lives(path);
  expect(restored.id).toBe(first.id);
  expect(restored.incarnation).not.toBe(first.incarnation);
  expect(await lives(path)).toEqual(restored);
});
