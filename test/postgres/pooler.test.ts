import { expect, onTestFinished, test } from 'vitest';
import {
  chunk,
  endWrite,
  eventFacts,
  nextRunWrite,
  parkWrite,
  type StoreWorld,
  text,
} from '../conformance/builders.ts';
import { databaseUrl } from '../support/database-url.ts';
import { type Pooler, startPooler } from '../support/transaction-pooler.ts';
import { PostgresWorld } from './postgres-world.ts';

async function behindPooler(): Promise<{ readonly pooler: Pooler; readonly database: PostgresWorld }> {
  const pooler = await startPooler(databaseUrl());
  onTestFinished(() => pooler.stop());
  return { pooler, database: new PostgresWorld(pooler.url) };
}

/** Everything that a task may meet, once. */
async function live(world: StoreWorld): Promise<void> {
  const worker = await world.worker();
  const { task, grant } = await world.start({ grantTo: worker });
  for (let emitNo = 0; emitNo < 5; emitNo += 1) {
    const facts = eventFacts(chunk(grant, { append: emitNo > 0, parts: [text(`${emitNo}`)] }));
    await world.store.append(grant, { emitNo, facts });
  }
  await world.settle(grant, parkWrite(grant, { wakeKey: 'ask:x' }), 5);
  const { headSeq } = (await world.view(grant)).task;
  const write = { ...nextRunWrite(grant, 'parked', world.run()), grantTo: worker };
  const working = { kind: 'status-changed' as const, state: 'working' as const };
  const answered = await world.scoped().command(task.id, headSeq, { ...write, events: [...write.events, working] });
  if (answered.kind !== 'written' || answered.grant === undefined) throw new Error(answered.kind);
  await world.settle(answered.grant, endWrite(answered.grant, 'completed'));
  const snapshot = await world.scoped().readSnapshot(task.id, { artifacts: true });
  expect(snapshot?.task.state).toBe('completed');
  expect(snapshot?.content.artifacts[0]?.parts).toEqual(['0', '1', '2', '3', '4'].map(text));
  await world.store.renewWorker({ workerNo: worker.workerNo, leaseMs: 1_000 });
}

test('tasks live behind a pooler that gives every transaction another server connection', async () => {
  const { database } = await behindPooler();
  const [one, two] = [await database.open(), await database.open()];
  await Promise.all(Array.from({ length: 16 }, (_, n) => live(n % 2 === 0 ? one : two)));
  expect((await one.store.stats()).tasks.completed).toBe(16);
});

test('nothing is left on the connections of a pooler', async () => {
  const { pooler, database } = await behindPooler();
  const world = await database.open();
  await Promise.all(Array.from({ length: 6 }, () => live(world)));
  await world.store.close();
  const statements = await pooler.onEachServer('select name from pg_prepared_statements');
  expect(statements.flat()).toEqual([]);
  const settings = await pooler.onEachServer(
    `select name, setting from pg_settings where source = 'session' and name not in ('application_name', 'client_encoding', 'DateStyle')`,
  );
  expect(settings.flat()).toEqual([]);
});

test('a transaction behind a pooler brings its own timeouts', async () => {
  const { database } = await behindPooler();
  const world = await database.open();
  const admin = await database.connect();
  const { task } = await world.submit();
  await admin.query('begin');
  await admin.query(`select 1 from ${database.schema}.task where no = $1 for update`, [task.no]);
  const write = { events: [{ kind: 'cancel-requested' as const, by: 'ann' }] };
  // The server ends the wait after two seconds.
  await expect(world.store.command(task.no, task.headSeq, write)).rejects.toMatchObject({
    code: 'unavailable',
    detail: { cause: { code: '55P03' } },
  });
  await admin.query('rollback');
});
