import { expect, onTestFinished, test } from 'vitest';
import type { Seq } from '../../src/model/ids.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { codeVersion } from '../../src/store/sql/migrate.ts';
import { PostgresWorld } from './postgres-world.ts';

test('two processes that migrate at once apply each migration once', async () => {
  const database = new PostgresWorld();
  const stores = await Promise.all(Array.from({ length: 4 }, () => database.open()));
  const admin = await database.connect();
  const { rows } = await admin.query(`select version from ${database.schema}.schema_migration order by version`);
  expect(rows.map(({ version }) => Number(version))).toEqual(Array.from({ length: codeVersion }, (_, n) => n + 1));
  const installations = await Promise.all(stores.map(({ store }) => store.installation()));
  expect(new Set(installations.map(({ id, incarnation }) => `${id} ${incarnation}`)).size).toBe(1);
  for (const world of stores) await world.submit();
  expect(await stores[0]?.scoped().countTasks({})).toBe(4);
});

test('a schema that asks for a newer version is refused, whether it may be migrated or not', async () => {
  const database = new PostgresWorld();
  await (await database.openStore()).close();
  const admin = await database.connect();
  const newer = codeVersion + 1;
  await admin.query(
    `insert into ${database.schema}.schema_migration (version, name, checksum, code_version_min, applied_at) values ($1, 'later', 'x', $1, 0)`,
    [newer],
  );
  const refusal = {
    code: 'unavailable',
    message: expect.stringContaining(`needs a Holdfast that knows schema ${newer}`),
  };
  await expect(database.openStore()).rejects.toMatchObject(refusal);
  await expect(database.openStore({ migrate: false })).rejects.toMatchObject(refusal);
});

test('a newer schema that still allows this version is used as it is', async () => {
  const database = new PostgresWorld();
  await (await database.openStore()).close();
  const admin = await database.connect();
  await admin.query(
    `insert into ${database.schema}.schema_migration (version, name, checksum, code_version_min, applied_at) values ($1, 'later', 'x', 1, 0)`,
    [codeVersion + 1],
  );
  const world = await database.open();
  expect((await world.submit()).kind).toBe('created');
  expect((await world.store.installation()).schemaVersion).toBe(codeVersion + 1);
});

test('without migrate an empty database is refused, and left empty', async () => {
  const database = new PostgresWorld();
  await expect(database.openStore({ migrate: false })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('holdfast admin migrate up'),
  });
  const admin = await database.connect();
  const { rows } = await admin.query('select 1 from pg_namespace where nspname = $1', [database.schema]);
  expect(rows).toEqual([]);
});

test('a node that may not see the cluster shares the incarnation of one that may', async () => {
  const database = new PostgresWorld();
  const first = await (await database.openStore()).installation();
  const admin = await database.connect();
  const role = database.schema;
  await admin.query(`
    create role ${role} login password 'x' nosuperuser;
    grant usage on schema ${role} to ${role};
    grant select, insert, update on all tables in schema ${role} to ${role};
    revoke execute on function pg_control_system() from public`);
  onTestFinished(async () => {
    await admin.query(
      `grant execute on function pg_control_system() to public; drop owned by ${role}; drop role ${role}`,
    );
  });
  const url = new URL(database.url);
  url.username = role;
  url.password = 'x';
  const blind = await openPostgresStore({ url: url.href, schema: database.schema, migrate: false });
  onTestFinished(() => blind.close());
  for (const store of [blind, await database.openStore(), blind]) expect(await store.installation()).toEqual(first);
  // One that may see more comes later: what was known of the life is told from its end.
  await admin.query(`update ${role}.installation set life = regexp_replace(life, '^[^/]*/[^/]*/', '')`);
  for (const store of [blind, await database.openStore(), blind]) expect(await store.installation()).toEqual(first);
});

test('data that moved to another life has another incarnation, and keeps its id', async () => {
  const database = new PostgresWorld();
  const store = await database.openStore();
  const before = await store.installation();
  const admin = await database.connect();
  // What a promoted replica or a restored backup finds: the life of the cluster that wrote the row.
  await admin.query(`update ${database.schema}.installation set life = 'another cluster'`);
  const after = await store.installation();
  expect(after.id).toBe(before.id);
  expect(after.incarnation).not.toBe(before.incarnation);
  expect(await (await database.openStore()).installation()).toEqual(after);
});

test('a task that is deleted takes its rows with it, and no other', async () => {
  const database = new PostgresWorld();
  const world = await database.open();
  const task = await world.complete();
  const { task: other } = await world.submit();
  const admin = await database.connect();
  await admin.query(`delete from ${database.schema}.task where no = $1`, [task.no]);
  for (const table of ['event', 'turn', 'run', 'idempotency']) {
    const { rows } = await admin.query(`select distinct task_no::int as no from ${database.schema}.${table}`);
    expect(rows, table).toEqual([{ no: other.no }]);
  }
  expect(await world.store.readEvents(task.no, { after: 0 as Seq, eventsMax: 9, bytesMax: 9 })).toBeUndefined();
});
