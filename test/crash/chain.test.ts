import { expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { databaseUrl } from '../support/database-url.ts';
import { chain } from './chain.ts';
import { type CrashPoint, type CrashStore, runCrashPoint, sqliteCrashStore } from './crash-point.ts';
import { CRASHES_AT_ONCE, inParallel } from './points.ts';
import { postgresCrashStore } from './postgres-crash-store.ts';

/** These touch no task, so a death beside them is one beside the write before or after. */
const OF_WORKERS = ['registerWorker', 'buryWorkers'];

/**
 * Right before each write, and right after those of a run: what a handler does lies between two of its writes, what is
 * done for it lies in one.
 */
async function everyPoint(store: CrashStore): Promise<readonly CrashPoint[]> {
  const { died, writes } = await runCrashPoint({ at: 0, moment: 'before' }, store, chain);
  expect(died).toBe(false);
  return writes.flatMap((name, index): CrashPoint[] => {
    const at = index + 1;
    if (OF_WORKERS.includes(name)) return [];
    const before = { at, moment: 'before' as const };
    return name === 'append' || name === 'settle' ? [before, { at, moment: 'after' }] : [before];
  });
}

/** How many of the points were reached; throws where one broke a promise. */
async function dieAt(points: readonly CrashPoint[], store: CrashStore): Promise<number> {
  let reached = 0;
  await inParallel(points, CRASHES_AT_ONCE, async (point) => {
    try {
      if ((await runCrashPoint(point, store, chain)).died) reached += 1;
    } catch (error) {
      throw new Error(`kill -9 ${point.moment} write ${point.at} broke a promise`, { cause: error });
    }
  });
  return reached;
}

test(`three steps, a question, a sleep and an artifact: a server on SQLite dies at every point between them ${verifies('durable.crash', 'durable.log')}`, async () => {
  const points = await everyPoint(sqliteCrashStore);
  expect(points.length).toBeGreaterThan(20);
  const reached = await dieAt(points, sqliteCrashStore);
  expect(reached, `of ${points.length} points`).toBeGreaterThan(20);
}, 300_000);

test(`and on PostgreSQL at some ${verifies('durable.crash')}`, async () => {
  const store = postgresCrashStore(databaseUrl());
  const points = (await everyPoint(store)).filter((_, index) => index % 5 === 3);
  expect(await dieAt(points, store)).toBeGreaterThan(4);
}, 300_000);
