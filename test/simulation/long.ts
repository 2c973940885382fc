import { parseArgs } from 'node:util';
import { runHistory } from './history.ts';

/*
 * Many histories: node test/simulation/long.ts --histories 10000 [--from 1]
 * Goes on after a failure, so that one night finds more than one; ends with the seeds that failed.
 */
const { values } = parseArgs({
  options: { histories: { type: 'string', default: '10000' }, from: { type: 'string', default: '1' } },
});
const first = Number(values.from);
const last = first + Number(values.histories) - 1;
const failed: number[] = [];
const totals = new Map<string, number>();
let current = first;

process.on('unhandledRejection', (error) => {
  console.error(`seed ${current}: a rejection that nobody handles`, error);
  failed.push(current);
});

const startedAtMs = performance.now();
for (current = first; current <= last; current += 1) {
  try {
    const { counts, simulatedMs } = await runHistory({ seed: current });
    for (const [name, count] of Object.entries({ ...counts, simulatedMs })) {
      totals.set(name, (totals.get(name) ?? 0) + count);
    }
  } catch (error) {
    failed.push(current);
    console.error(error instanceof Error ? error.message : error);
  }
  if ((current - first + 1) % 500 === 0) console.log(`${current - first + 1} histories, ${failed.length} failed`);
}
const seconds = (performance.now() - startedAtMs) / 1_000;
console.log(Object.fromEntries(totals));
console.log(`${last - first + 1} histories, ${((last - first + 1) / seconds).toFixed(1)} a second`);
console.log(failed.length === 0 ? 'no seed failed' : `failed seeds: ${[...new Set(failed)].join(' ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
