import { expect, test } from 'vitest';
import { errorCode } from '../../src/base/errors.ts';
import { seededRandom } from '../../src/base/random.ts';
import type { BlobNo } from '../../src/model/ids.ts';
import type { Grant } from '../../src/store/contract.ts';
import { chunk, eventFacts, type Started, status, text } from '../conformance/builders.ts';
import { PostgresWorld } from './postgres-world.ts';

const word = (grant: Grant, emitNo: number) => chunk(grant, { append: emitNo > 0, parts: [text(`${emitNo}`)] });

test('batches of many tasks go together, and each task keeps its own log', async () => {
  const database = new PostgresWorld();
  const world = await database.open();
  const started = await Promise.all(Array.from({ length: 24 }, () => world.start()));
  const rounds = 8;
  const write = async ({ grant, task }: Started): Promise<void> => {
    for (let emitNo = 0; emitNo < rounds; emitNo += 1) {
      const deadline = { kind: 'idle' as const, inMs: 60_000 };
      const result = await world.store.append(grant, { emitNo, facts: eventFacts(word(grant, emitNo)), deadline });
      expect(result).toMatchObject({ kind: 'written', headSeq: task.headSeq + emitNo + 1 });
      expect(result.events).toMatchObject([{ ...word(grant, emitNo), seq: result.headSeq }]);
    }
  };
  await Promise.all(started.map(write));
  for (const { grant, task } of started) {
    const view = await world.view(grant);
    expect(view.task).toMatchObject({ emitNo: rounds, headSeq: task.headSeq + rounds, deadline: { kind: 'idle' } });
    const artifact = await world.scoped().readArtifact(task.id, 'artifact' as never);
    expect(artifact?.parts).toEqual(Array.from({ length: rounds }, (_, emitNo) => text(`${emitNo}`)));
  }
  const admin = await database.connect();
  const { rows } = await admin.query<{ transactions: number }>(
    `select count(distinct xmin::text)::int as transactions from ${database.schema}.event where kind = 4`,
  );
  expect(rows[0]?.transactions).toBeLessThan((24 * rounds) / 2);
});

test('a batch that fails goes down alone', async () => {
  const database = new PostgresWorld();
  const world = await database.open();
  const started = await Promise.all(Array.from({ length: 8 }, () => world.start()));
  const appends = started.map(({ grant }, index) => {
    const event = word(grant, 0);
    const blobs = index === 5 ? [987_654 as BlobNo] : [];
    return world.store.append(grant, { emitNo: 0, facts: [{ kind: 'event', event, blobs }] });
  });
  const results = await Promise.allSettled(appends);
  expect(results.map((result) => result.status === 'fulfilled')).toEqual(started.map((_, index) => index !== 5));
  for (const [index, { task }] of started.entries()) {
    expect(await world.events(task)).toHaveLength(index === 5 ? 5 : 6);
  }
});

test('a task that another transaction holds keeps nobody else waiting', async () => {
  const database = new PostgresWorld();
  const world = await database.open();
  const admin = await database.connect();
  const started = await Promise.all(Array.from({ length: 8 }, () => world.start()));
  const held = started[5]!;
  await admin.query('begin');
  await admin.query(`select 1 from ${database.schema}.task where no = $1 for update`, [held.task.no]);
  const appends = started.map(({ grant }) =>
    world.store.append(grant, { emitNo: 0, facts: eventFacts(word(grant, 0)) }),
  );
  const others = await Promise.all(appends.filter((_, index) => index !== 5));
  expect(others.map(({ kind }) => kind)).toEqual(others.map(() => 'written'));
  expect(await world.events(held.task)).toHaveLength(5);
  await admin.query('rollback');
  expect(await appends[5]).toMatchObject({ kind: 'written', headSeq: 6 });
});

test('a batch that waits for its session holds the rows of no other', async () => {
  const database = new PostgresWorld();
  const world = await database.open();
  const admin = await database.connect();
  const started = await Promise.all(Array.from({ length: 6 }, () => world.start()));
  const set = ({ grant }: Started, emitNo: number, keys: readonly string[]) =>
    world.store.append(grant, {
      emitNo,
      facts: [
        ...eventFacts(word(grant, emitNo)),
        ...keys.map((key) => ({ kind: 'session-state' as const, key, value: '1' })),
      ],
    });
  for (const one of started) await set(one, 0, ['a', 'b']);
  const held = started[5]!;
  const observer = await database.connect();
  const waiting = async (): Promise<unknown> => {
    await database.waitingProcess(observer);
    const { rows } = await observer.query(
      `select pid, xact_start::text from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock'`,
      [database.applicationName],
    );
    return rows;
  };
  await admin.query('begin');
  const lock = (key: string) =>
    admin.query(`select 1 from ${database.schema}.session_state where session_no = $1 and key = $2 for update nowait`, [
      held.grant.sessionNo,
      key,
    ]);
  await lock('a');
  // The first ones are under way when the last come, which would be one group, and the held one its last.
  const appends = started.map((one) => set(one, 3, ['b', 'a']));
  const first = await waiting();
  await Promise.all(appends.slice(0, 5));
  expect(await waiting(), 'the same transaction waits as before').toEqual(first);
  await lock('b');
  await admin.query('rollback');
  expect(await appends[5]).toMatchObject({ kind: 'written' });
});

test.each([1, 2, 3])(
  'revocations by another process among groups: what was refused is not there (seed %i)',
  async (seed) => {
    const database = new PostgresWorld();
    const [one, two] = [await database.open(), await database.open()];
    const started = await Promise.all(Array.from({ length: 12 }, () => one.start()));
    const random = seededRandom(seed);
    const write = async ({ grant }: Started): Promise<number> => {
      for (let emitNo = 0; ; emitNo += 1) {
        try {
          await one.store.append(grant, { emitNo, facts: eventFacts(word(grant, emitNo)) });
        } catch (error) {
          expect(errorCode(error), `seed ${seed}`).toBe('lease_lost');
          return emitNo;
        }
      }
    };
    const revoke = async ({ task, grant }: Started): Promise<void> => {
      const patience = Math.floor(random.fraction() * 30);
      for (let count = 0; count < patience; count += 1) await two.view(grant);
      for (;;) {
        const { headSeq } = (await two.view(grant)).task;
        const write = { events: [status('working')], revokeFence: true };
        if ((await two.store.command(task.no, headSeq, write)).kind === 'written') return;
      }
    };
    const [written] = await Promise.all([Promise.all(started.map(write)), Promise.all(started.map(revoke))]);
    for (const [index, { task, grant }] of started.entries()) {
      const events = await one.events(task);
      const words = events.flatMap((event) => (event.kind === 'artifact-updated' ? [event.parts] : []));
      expect(words, `seed ${seed}`).toEqual(
        Array.from({ length: written[index] ?? 0 }, (_, n) => word(grant, n).parts),
      );
      expect(events.at(-1)?.kind, `seed ${seed}`).toBe('status-changed');
      expect(
        events.map(({ seq }) => seq),
        `seed ${seed}`,
      ).toEqual(events.map((_, place) => place + 1));
    }
  },
);
