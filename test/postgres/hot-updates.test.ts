import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import { defaultRunTimes } from '../../src/model/task-policy.ts';
import { Emitter } from '../../src/runtime/emitter.ts';
import { chunk, eventFacts } from '../conformance/builders.ts';
import { PostgresWorld } from './postgres-world.ts';

const APPENDS = 40;

/** An update that moves an indexed column is written into all eight indexes of the task table; one that does not, into none. */
test('what a run appends touches no index of its task', async () => {
  const database = new PostgresWorld();
  const world = await database.open();
  const { grant } = await world.start();
  const admin = await database.connect();
  // A connection tells of what it did when it is closed, at the latest.
  const updates = async (): Promise<{ readonly all: number; readonly hot: number }> => {
    for (;;) {
      const { rows } = await admin.query<{ all: number; hot: number }>(
        `select pg_stat_get_tuples_updated($1::regclass)::int as all, pg_stat_get_tuples_hot_updated($1::regclass)::int as hot`,
        [`${database.schema}.task`],
      );
      const [row] = rows;
      if (row !== undefined && row.all >= APPENDS) return row;
    }
  };
  const parts = { clock: systemClock, random: systemRandom, log: silentLogger, store: world.store };
  const emitter = new Emitter(
    { ...parts, config: { times: defaultRunTimes } as never },
    { grant, headSeq: grant.headSeq, grantedAtMs: systemClock.monotonicMs() },
    { committed: () => {}, lost: () => {}, broken: () => {} },
  );
  for (let count = 0; count < APPENDS; count += 1) {
    await emitter.commit({ facts: eventFacts(chunk(grant, { append: count > 0 })), bytes: 100 });
  }
  await world.store.close();
  const { all, hot } = await updates();
  expect(hot, `of ${all} updates`).toBeGreaterThan(APPENDS * 0.9);
});
