import pg from 'pg';
import { expect, test } from 'vitest';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { chunk, endWrite, eventFacts, StoreWorld, status } from '../conformance/builders.ts';
import { startPostgres } from '../support/postgres.ts';
import { PostgresWorld } from './postgres-world.ts';

const CANCEL = { events: [{ kind: 'cancel-requested' as const, by: 'ann' }] };

test('a pool of one connection is enough for everything at once', async () => {
  const database = new PostgresWorld();
  const world = await database.open({ poolMax: 1 });
  const live = async (): Promise<void> => {
    const { task, grant } = await world.start();
    await world.store.append(grant, { emitNo: 0, facts: eventFacts(chunk(grant)) });
    await world.scoped().readSnapshot(task.id, { artifacts: true });
    await world.settle(grant, endWrite(grant, 'completed'), 1);
    await world.everything(task);
    await world.store.stageSlice({ sliceNo: 0, data: Uint8Array.from([1]), total: { bytes: 1, sha256: 'x' } });
    await world.store.installation();
    await world.store.stats();
  };
  await Promise.all(Array.from({ length: 8 }, live));
  expect((await world.store.stats()).tasks.completed).toBe(8);
});

test('a row that another transaction holds for too long is unavailable, and nothing is written', async () => {
  const database = new PostgresWorld();
  const world = await database.open();
  const admin = await database.connect();
  const { task } = await world.submit();
  await admin.query('begin');
  await admin.query(`select 1 from ${database.schema}.task where no = $1 for update`, [task.no]);
  // The lock wait ends by itself after two seconds, on the server.
  await expect(world.store.command(task.no, task.headSeq, CANCEL)).rejects.toMatchObject({
    code: 'unavailable',
    detail: { cause: { code: '55P03' } },
  });
  await admin.query('rollback');
  expect(await world.store.command(task.no, task.headSeq, CANCEL)).toMatchObject({ kind: 'written' });
});

test('a statement that the server cancels, as at its timeout, is unavailable, and nothing is written', async () => {
  const database = new PostgresWorld();
  const world = await database.open();
  const admin = await database.connect();
  const { task, grant } = await world.start();
  await admin.query('begin');
  await admin.query(`select 1 from ${database.schema}.task where no = $1 for update`, [task.no]);
  const append = world.store.append(grant, { emitNo: 0, facts: eventFacts(status('working')) });
  const refused = expect(append).rejects.toMatchObject({ code: 'unavailable', detail: { cause: { code: '57014' } } });
  const observer = await database.connect();
  await observer.query('select pg_cancel_backend($1)', [await database.waitingProcess(observer)]);
  await refused;
  await admin.query('rollback');
  expect(await world.events(task)).toHaveLength(5);
});

test('deadlocks are done again until one of both is through', async () => {
  const database = new PostgresWorld();
  const world = await database.open();
  const admin = await database.connect();
  const { task } = await world.submit();
  const { task: other } = await world.submit();
  const table = `${database.schema}.task`;
  await admin.query("begin; set local deadlock_timeout = '10s'");
  await admin.query(`select 1 from ${table} where no = $1 for update`, [task.no]);
  // The command holds the message's row and waits for the task; the test holds the task and waits for the message.
  const messageId = 'both' as never;
  const message = { messageId, role: 'user' as const, parts: [] };
  const command = world.scoped().command(task.id, task.headSeq, {
    events: [{ kind: 'message-received', message, turnNo: 1 as never }],
    idempotency: { messageId, fingerprint: { version: 1, digest: 'a' }, turnNo: 1 as never },
  });
  const observer = await database.connect();
  await database.waitingProcess(observer);
  const insert = admin.query(
    `insert into ${database.schema}.idempotency (agent, scope, message_id, fingerprint, fingerprint_version, state, task_no, turn_no, message_seq)
     values ($1, $2, 'both', 'b', 1, 1, $3, 1, 1)`,
    [task.agent, task.scope, other.no],
  );
  await insert.then(
    () => admin.query('rollback'),
    () => admin.query('rollback'),
  );
  expect((await command).kind).toBe('written');
});

test('a database that is not there is unavailable, with its cause', async () => {
  const url = 'postgres://postgres:x@127.0.0.1:1/postgres';
  await expect(openPostgresStore({ url })).rejects.toMatchObject({
    code: 'unavailable',
    detail: { cause: { code: 'ECONNREFUSED' } },
  });
});

test('a server that refuses a password or shuts down is unavailable, and so is every write after it', async () => {
  const server = await startPostgres();
  const store = await openPostgresStore({ url: server.url });
  const world = new StoreWorld(store, createFakeClock());
  try {
    const url = server.url.replace('holdfast@', 'wrong-secret@');
    const refused = await openPostgresStore({ url }).catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({ code: 'unavailable', detail: { cause: { code: '28P01' } } });
    expect(String((refused as Error).stack)).not.toContain('wrong-secret');
    const { task } = await world.submit();
    await server.stop();
    await expect(world.scoped().readTask(task.id)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(world.store.command(task.no, task.headSeq, CANCEL)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(world.submit()).rejects.toMatchObject({ code: 'unavailable' });
  } finally {
    await store.close();
  }
});

test('what the constraints forbid is a fault of ours and not an answer', async () => {
  const database = new PostgresWorld();
  const world = await database.open();
  const { task } = await world.submit();
  const request = world.submitRequest({ taskId: task.id });
  await expect(world.scoped().submit(request)).rejects.toMatchObject({ name: 'AssertionError' });
});

test('the types of other users of pg stay as they were', async () => {
  await new PostgresWorld().open();
  const int8 = pg.types.getTypeParser(20);
  expect(int8('1')).toBe('1');
});
