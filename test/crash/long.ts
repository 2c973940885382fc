/*
 * `npm run test:crash`: 1,000 kill -9 points on SQLite and 100 on PostgreSQL.
 * `-- --points N --seed S --store sqlite|postgres` narrows it. Ends with one line a store; exit code 1 at the first broken promise.
 */
import { parseArgs } from 'node:util';
import { startPostgres } from '../support/postgres.ts';
import { allSkills } from './all-skills.ts';
import { type CrashStore, runCrashPoint, sqliteCrashStore } from './crash-point.ts';
import { CRASHES_AT_ONCE, drawPoints, inParallel } from './points.ts';
import { postgresCrashStore } from './postgres-crash-store.ts';

const { values } = parseArgs({
  options: { points: { type: 'string' }, seed: { type: 'string' }, store: { type: 'string' } },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));

async function crashAll(name: string, store: CrashStore, count: number): Promise<number> {
  const { writes } = await runCrashPoint({ at: 0, moment: 'before' }, store, allSkills);
  let done = 0;
  let died = 0;
  let broken = 0;
  await inParallel(drawPoints({ count, writes: writes.length, seed }), CRASHES_AT_ONCE, async (point) => {
    const outcome = await runCrashPoint(point, store, allSkills).catch((error: unknown) => {
      broken += 1;
      console.error(`${name}: kill -9 ${point.moment} write ${point.at} (seed ${seed}) broke a promise:`, error);
      return { died: true };
    });
    done += 1;
    if (outcome.died) died += 1;
    if (done % 50 === 0) console.log(`${name}: ${done} of ${count} points, ${died} reached, ${broken} broken`);
  });
  console.log(
    `${name}: ${count} points over ${writes.length} writes, ${died} reached, ${broken} broken promises, seed ${seed}`,
  );
  return broken;
}

let broken = 0;
if (values.store !== 'postgres') broken += await crashAll('sqlite', sqliteCrashStore, Number(values.points ?? 1000));
if (values.store !== 'sqlite') {
  const server = await startPostgres({ durable: true });
  try {
    broken += await crashAll('postgres', postgresCrashStore(server.url), Number(values.points ?? 100));
  } finally {
    await server.stop();
  }
}
process.exitCode = broken > 0 ? 1 : 0;
