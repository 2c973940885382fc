import { expect, test } from 'vitest';
import type { ContextId, MessageId } from '../../src/model/ids.ts';
import type { Scope } from '../../src/model/scope.ts';
import type { Grant } from '../../src/store/contract.ts';
import { chunk, endWrite, eventFacts, nextRunWrite, SCOPE, text } from '../conformance/builders.ts';
import { PostgresWorld } from './postgres-world.ts';

test('concurrent claims of two processes lease no run twice', async () => {
  const database = new PostgresWorld();
  const [one, two] = [await database.open(), await database.open()];
  const tasks = 120;
  await Promise.all(Array.from({ length: tasks }, (_, n) => one.submit({ scope: `user=${n % 7}` as Scope })));
  const claimAll = async (world: typeof one): Promise<Grant[]> => {
    const worker = await world.worker();
    const granted: Grant[] = [];
    // A claim may find nothing because the other process holds what it found; the queue says when there is nothing left.
    while ((await world.store.stats()).runs.queued > 0) granted.push(...(await world.claim(worker, 5)));
    return granted;
  };
  const granted = (await Promise.all([claimAll(one), claimAll(two), claimAll(one), claimAll(two)])).flat();
  expect(granted).toHaveLength(tasks);
  expect(new Set(granted.map(({ runNo }) => runNo)).size).toBe(tasks);
});

test('20 submits of one message from two processes create one task in one session', async () => {
  const database = new PostgresWorld();
  const [one, two] = [await database.open(), await database.open()];
  const messageId = 'once' as MessageId;
  const contextId = 'shared' as ContextId;
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, n) => {
      const world = n % 2 === 0 ? one : two;
      return world.scoped().submit(world.submitRequest({ messageId, contextId }));
    }),
  );
  expect(results.filter(({ kind }) => kind === 'created')).toHaveLength(1);
  expect(await one.scoped().countTasks({})).toBe(1);
  expect((await two.scoped().listSessions({ pageItems: 9 })).items).toHaveLength(1);
});

test('20 first messages of one context from two processes open one session', async () => {
  const database = new PostgresWorld();
  const [one, two] = [await database.open(), await database.open()];
  const contextId = 'shared' as ContextId;
  const created = await Promise.all(
    Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? one : two).submit({ contextId })),
  );
  expect(new Set(created.map(({ task }) => task.sessionNo)).size).toBe(1);
});

test('a worker that slept through its lease writes nothing after its run was taken over', async () => {
  const database = new PostgresWorld();
  const [frozen, other] = [await database.open(), await database.open()];
  const worker = await frozen.worker(0);
  const { task, grant } = await frozen.start({ grantTo: worker });
  await frozen.store.append(grant, { emitNo: 0, facts: eventFacts(chunk(grant)) });
  expect(await other.store.orphans(9)).toEqual([]);
  expect(await other.store.buryWorkers({ all: false })).toBe(1);
  expect(await other.store.orphans(9)).toEqual([task.no]);
  await other.command(task, nextRunWrite(grant, 'lost', other.run()));
  const [next] = await other.claim(await other.worker());
  expect(next?.fence).toBeGreaterThan(grant.fence);

  const before = await other.everything(task);
  const facts = eventFacts(chunk(grant, { append: true }));
  const headSeq = (await other.view(grant)).task.headSeq;
  const settle = frozen.store.settle(grant, { emitNo: 1, facts, headSeq, write: endWrite(grant, 'completed') });
  await expect(settle).rejects.toMatchObject({ code: 'lease_lost' });
  await expect(frozen.store.append(grant, { emitNo: 1, facts })).rejects.toMatchObject({ code: 'lease_lost' });
  expect(await frozen.store.renewWorker({ workerNo: worker.workerNo, leaseMs: 60_000 })).toBe(false);
  expect(await other.everything(task)).toEqual(before);
});

test('a write that waited for the row is judged by the row as it is then', async () => {
  const database = new PostgresWorld();
  const world = await database.open();
  const admin = await database.connect();
  const observer = await database.connect();
  const writes = [
    (grant: Grant) => world.store.append(grant, { emitNo: 0, facts: eventFacts(chunk(grant)) }),
    (grant: Grant) => {
      const { headSeq } = grant;
      return world.store.settle(grant, { emitNo: 0, facts: [], headSeq, write: endWrite(grant, 'completed') });
    },
  ];
  for (const write of writes) {
    const { task, grant } = await world.start();
    const before = await world.events(task);
    await admin.query('begin');
    await admin.query(`update ${database.schema}.task set fence = fence + 1 where no = $1`, [task.no]);
    const written = write(grant);
    await database.waitingProcess(observer);
    await admin.query('commit');
    await expect(written).rejects.toMatchObject({ code: 'lease_lost' });
    expect(await world.events(task)).toEqual(before);
  }
});

test('no event of a run stands behind the start of its successor, however the two race', async () => {
  const database = new PostgresWorld();
  const [one, two] = [await database.open(), await database.open()];
  const worker = await two.worker();
  for (let round = 0; round < 20; round += 1) {
    const { task, grant } = await one.start();
    const writing = (async () => {
      for (let emitNo = 0; ; emitNo += 1) {
        const facts = eventFacts(chunk(grant, { append: emitNo > 0, parts: [text('old')] }));
        await one.store.append(grant, { emitNo, facts });
      }
    })();
    const takeOver = async (): Promise<Grant> => {
      for (;;) {
        const view = await two.store.readView(task.no);
        const headSeq = view?.task.headSeq ?? task.headSeq;
        const write = { ...nextRunWrite(grant, 'lost', two.run()), grantTo: worker };
        const result = await two.store.command(task.no, headSeq, write);
        if (result.kind === 'written' && result.grant !== undefined) return result.grant;
      }
    };
    const [next] = await Promise.all([takeOver(), expect(writing).rejects.toMatchObject({ code: 'lease_lost' })]);
    await two.store.append(next, { emitNo: 0, facts: eventFacts(chunk(next, { parts: [text('new')] })) });
    const events = await one.events(task);
    const secondStart = events.findLastIndex(({ kind }) => kind === 'run-started');
    const after = events.slice(secondStart + 1);
    expect(after.map((event) => (event.kind === 'artifact-updated' ? event.parts : event.kind))).toEqual([
      [text('new')],
    ]);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  }
});

test('a command of one process is seen by the poll of another', async () => {
  const database = new PostgresWorld();
  const [one, two] = [await database.open(), await database.open()];
  const { task } = await one.start();
  const tasks = [{ taskNo: task.no, seq: task.headSeq }];
  expect(await two.store.readHeads(tasks)).toEqual([]);
  await one.command(task, { events: [{ kind: 'cancel-requested', by: 'ann' }] });
  expect(await two.store.readHeads(tasks)).toEqual([{ taskNo: task.no, headSeq: 6, cancelRequested: true }]);
  expect(await two.scoped(task.agent, SCOPE).readTask(task.id)).toMatchObject({ task: { cancelBy: 'ann' } });
});
