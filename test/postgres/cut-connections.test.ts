import type pg from 'pg';
import { expect, test } from 'vitest';
import { errorCode } from '../../src/base/errors.ts';
import { type Random, seededRandom } from '../../src/base/random.ts';
import type { MessageId } from '../../src/model/ids.ts';
import type { Grant } from '../../src/store/contract.ts';
import type { MemoryId } from '../../src/store/memory-contract.ts';
import { chunk, endWrite, eventFacts, nextRunWrite, type StoreWorld, text } from '../conformance/builders.ts';
import { PostgresWorld } from './postgres-world.ts';

/** Does `work` until it does not fail for want of the database; anything else it throws is a fault. */
async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (errorCode(error) !== 'unavailable') throw error;
    }
  }
}

/** Cuts all connections at moments that the seed and the machine choose, until `work` is done. */
async function underCuts<T>(
  database: PostgresWorld,
  admin: pg.Client,
  random: Random,
  work: (cutsSoFar: () => number) => Promise<T>,
): Promise<T> {
  let cuts = 0;
  let isDone = false;
  const working = work(() => cuts).finally(() => {
    isDone = true;
  });
  const cutting = (async () => {
    while (!isDone) {
      // Statements of its own set the moment: some land between two transactions, some in the middle of one.
      const pauses = 4 + Math.floor(random.fraction() * 60);
      for (let count = 0; count < pauses && !isDone; count += 1) await admin.query('select 1');
      cuts += await database.cutConnections(admin);
    }
  })();
  const [result] = await Promise.all([working, cutting]);
  return result;
}

const CUTS_MIN = 40;
/** However fast the machine is, work goes on until so many connections were cut under it. */
const FEW_CUTS = 6;

test.each([1, 2])('no event is doubled and none is lost, whenever the connection is cut (seed %i)', async (seed) => {
  const database = new PostgresWorld();
  const world = await database.open({ poolMax: 4 });
  const admin = await database.connect();
  const started = await Promise.all(Array.from({ length: 4 }, () => world.start()));
  const sizes = seededRandom(seed);
  const write = async (grant: Grant, cutsSoFar: () => number): Promise<string[]> => {
    const words: string[] = [];
    for (let batch = 0; batch < 50 || cutsSoFar() < CUTS_MIN; batch += 1) {
      const emitNo = words.length;
      const batchWords = Array.from({ length: 1 + Math.floor(sizes.fraction() * 4) }, (_, n) => `${batch}.${n}`);
      const events = batchWords.map((word, n) => chunk(grant, { append: emitNo + n > 0, parts: [text(word)] }));
      const result = await persist(() => world.store.append(grant, { emitNo, facts: eventFacts(...events) }));
      expect(result.events, `seed ${seed}`).toMatchObject(events);
      words.push(...batchWords);
    }
    return words;
  };
  const result = await underCuts(database, admin, seededRandom(seed), (cutsSoFar) =>
    Promise.all(started.map(({ grant }) => write(grant, cutsSoFar))),
  );
  for (const [index, { task }] of started.entries()) {
    const events = await persist(() => world.events(task));
    expect(
      events.map(({ seq }) => seq),
      `seed ${seed}`,
    ).toEqual(events.map((_, place) => place + 1));
    const artifact = await persist(() => world.scoped().readArtifact(task.id, 'artifact' as never));
    expect(artifact?.parts, `seed ${seed}`).toEqual(result[index]?.map(text));
  }
});

/** The runs that the store says are leased to a worker. */
async function leasedRuns(database: PostgresWorld, admin: pg.Client): Promise<string[]> {
  const { rows } = await admin.query<{ id: string }>(`select id from ${database.schema}.run where state = 1`);
  return rows.map(({ id }) => id).sort();
}

test('of submits that grant, each makes one task, and every run that is leased is known to its worker', async () => {
  const seed = 3;
  const database = new PostgresWorld();
  const world = await database.open({ poolMax: 4 });
  const admin = await database.connect();
  const worker = await world.worker(1e9);
  const grants: string[] = [];
  let submits = 0;
  const submitMany = async (lane: number, cutsSoFar: () => number): Promise<void> => {
    for (let count = 0; count < 20 || cutsSoFar() < FEW_CUTS; count += 1) {
      submits += 1;
      const messageId = `message-${lane}-${count}` as MessageId;
      const result = await persist(() => world.scoped().submit(world.submitRequest({ messageId, grantTo: worker })));
      if (result.kind === 'created' && result.grant !== undefined) grants.push(result.grant.runId);
    }
  };
  await underCuts(database, admin, seededRandom(seed), (cutsSoFar) =>
    Promise.all(Array.from({ length: 4 }, (_, lane) => submitMany(lane, cutsSoFar))),
  );
  expect(await persist(() => world.scoped().countTasks({})), `seed ${seed}`).toBe(submits);
  // What a lost answer granted is handed out by the next claims.
  for (let count = 0; count < submits / 4; count += 1) {
    grants.push(...(await persist(() => world.claim(worker))).map(({ runId }) => runId));
  }
  expect([...grants].sort(), `seed ${seed}`).toEqual(await leasedRuns(database, admin));
});

test('of claims, every run that is leased is known to its worker, and to nobody twice', async () => {
  const seed = 4;
  const database = new PostgresWorld();
  const world = await database.open({ poolMax: 4 });
  const admin = await database.connect();
  const tasks = 80;
  await Promise.all(Array.from({ length: tasks }, () => world.submit()));
  const worker = await world.worker(1e9);
  const runIds = await underCuts(database, admin, seededRandom(seed), async (cutsSoFar) => {
    const found: string[] = [];
    while (found.length < tasks || cutsSoFar() < FEW_CUTS) {
      if (found.length >= tasks) await persist(() => world.submit());
      const grants = await persist(() => world.claim(worker, 2));
      found.push(...grants.map(({ runId }) => runId));
    }
    return found;
  });
  expect([...runIds].sort(), `seed ${seed}`).toEqual(await leasedRuns(database, admin));
});

async function newestGrant(world: StoreWorld, grant: Grant): Promise<number> {
  return (await persist(() => world.view(grant))).task.headSeq;
}

test('a settlement and a hand-over say what became of them, whenever the connection is cut', async () => {
  const seed = 5;
  const database = new PostgresWorld();
  const world = await database.open({ poolMax: 2 });
  const admin = await database.connect();
  const worker = await world.worker(1e9);
  const rounds = 15;
  const grants = await underCuts(database, admin, seededRandom(seed), async (cutsSoFar) => {
    const known: Grant[] = [];
    for (let round = 0; round < rounds || cutsSoFar() < FEW_CUTS; round += 1) {
      const first = await persist(() => world.claim(worker, 1).then(() => world.start({ grantTo: worker })));
      const headSeq = first.grant.headSeq;
      const write = { ...nextRunWrite(first.grant, 'handed-back', world.run()), grantTo: worker };
      const handed = await persist(() =>
        world.store.settle(first.grant, { emitNo: 0, facts: [], headSeq, write }),
      ).catch((error: unknown) => errorCode(error));
      // The answer was lost twice: the store is right to say that this grant is over; its successor is found by a claim.
      if (handed === 'lease_lost') continue;
      if (typeof handed === 'string' || handed.kind !== 'written' || handed.grant === undefined) throw new Error('?');
      known.push(handed.grant);
    }
    return known;
  });
  expect(grants.length, `seed ${seed}`).toBeGreaterThan(rounds / 2);
  for (const grant of grants) {
    const headSeq = (await newestGrant(world, grant)) as typeof grant.headSeq;
    const request = { emitNo: 0, facts: [], headSeq, write: endWrite(grant, 'completed') };
    const settled = await persist(() => world.store.settle(grant, request)).catch((error: unknown) => errorCode(error));
    if (typeof settled === 'string') expect(settled).toBe('lease_lost');
    else expect(settled.kind).toBe('written');
    expect((await persist(() => world.view(grant))).task.state).toBe('completed');
  }
});

test('of replies, each is begun and finished once, whenever the connection is cut', async () => {
  const seed = 6;
  const database = new PostgresWorld();
  const world = await database.open({ poolMax: 2, random: seededRandom(seed) });
  const admin = await database.connect();
  const { workerNo } = await world.worker(1e9);
  const scoped = world.scoped();
  const fingerprint = { version: 1, digest: 'a' };
  await underCuts(database, admin, seededRandom(seed), async (cutsSoFar) => {
    for (let count = 0; count < 40 || cutsSoFar() < FEW_CUTS; count += 1) {
      const messageId = `reply-${count}` as MessageId;
      const begun = await persist(() => scoped.beginReply({ messageId, fingerprint, workerNo }));
      // Lost twice in a row: the row is held by a call that has given up, until its worker dies.
      if (begun.kind !== 'begun') continue;
      const memory = { id: `memory-${count}` as MemoryId, text: 'kept' };
      const finish = { messageId, fence: begun.fence, reply: `"${count}"`, keepMs: 60_000 };
      const write = { ...finish, memoryWrites: [{ kind: 'remember' as const, memory }] };
      expect(await persist(() => scoped.finishReply(write)), `seed ${seed}`).toBe(true);
    }
  });
  const memories = await persist(() => scoped.memories.list({ itemsMax: 10_000 }));
  const { rows } = await admin.query(
    `select count(*)::int as replies from ${database.schema}.idempotency where state = 2`,
  );
  expect(rows, `seed ${seed}`).toEqual([{ replies: memories.length }]);
  expect(memories.length, `seed ${seed}`).toBeGreaterThan(20);
});
