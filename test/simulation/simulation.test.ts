import { expect, test } from 'vitest';
import { runHistory } from './history.ts';

const HISTORIES = 150;
const given = process.env.SIMULATION_SEED;

test.runIf(given !== undefined)(`the history of seed ${given}`, async () => {
  await runHistory({ seed: Number(given) });
});

test.skipIf(given !== undefined)(
  'what was accepted comes to its end, whatever happens to processes, store and time',
  { timeout: 120_000 },
  async () => {
    const totals: Record<string, number> = {};
    for (let seed = 1; seed <= HISTORIES; seed += 1) {
      const { counts } = await runHistory({ seed });
      for (const [name, count] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + count;
    }
    console.log(totals);
  },
);

test.skipIf(given !== undefined)('one seed gives one history', async () => {
  for (const seed of [1, 2, 3]) {
    expect(await runHistory({ seed })).toEqual(await runHistory({ seed }));
  }
});
