import { expect, test } from 'vitest';
import { databaseUrl } from '../support/database-url.ts';
import { allSkills } from './all-skills.ts';
import { type CrashStore, runCrashPoint, sqliteCrashStore } from './crash-point.ts';
import { CRASHES_AT_ONCE, drawPoints, inParallel } from './points.ts';
import { postgresCrashStore } from './postgres-crash-store.ts';

/** The long version is `npm run test:crash`. */
const SEED = Number(process.env.CRASH_SEED ?? 20_261_130);

async function crash(store: CrashStore, count: number): Promise<void> {
  const clean = await runCrashPoint({ at: 0, moment: 'before' }, store, allSkills);
  expect(clean.died).toBe(false);
  let died = 0;
  await inParallel(drawPoints({ count, writes: clean.writes.length, seed: SEED }), CRASHES_AT_ONCE, async (point) => {
    try {
      if ((await runCrashPoint(point, store, allSkills)).died) died += 1;
    } catch (error) {
      throw new Error(`kill -9 ${point.moment} write ${point.at} (seed ${SEED}) broke a promise`, { cause: error });
    }
  });
  expect(died, 'most points are reached').toBeGreaterThan(count / 2);
}

test(
  'nothing is lost, doubled or stuck when a server on SQLite dies at its n-th write',
  () => crash(sqliteCrashStore, 16),
  180_000,
);

test('nor on PostgreSQL', () => crash(postgresCrashStore(databaseUrl()), 4), 400_000);
