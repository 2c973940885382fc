import { describe, expect, test } from 'vitest';
import { runHistory } from './history.ts';

const HISTORIES = 200;
const given = process.env.SIMULATION_SEED;

/** What a few hundred histories must have come across; where they have not, they prove less than they say. */
const SEEN = [
  'killed',
  'drained',
  'frozen',
  'storms',
  'unavailable',
  'refused',
  'canceled',
  'waits',
  'replies',
  'paidTwice',
  'run-settled succeeded',
  'run-settled failed',
  'run-settled rejected',
  'run-settled canceled',
  'run-settled parked',
  'run-settled interrupted',
  'run-settled lost',
  'run-settled handed-back',
  'run-settled timed-out',
  'question-answered answered',
  'question-answered declined',
  'question-answered expired',
  'timer-fired',
  'message-dropped',
  'artifact-discarded',
  'status-changed auth-required',
];

describe.skipIf(given !== undefined)('histories of several processes on one store', () => {
  test('what was accepted comes to its end, whatever happens', { timeout: 120_000 }, async () => {
    const totals = new Map<string, number>();
    for (let seed = 1; seed <= HISTORIES; seed += 1) {
      const { counts } = await runHistory({ seed });
      for (const [name, count] of Object.entries(counts)) totals.set(name, (totals.get(name) ?? 0) + count);
    }
    expect(SEEN.filter((name) => !totals.get(name))).toEqual([]);
  });

  test('one seed gives one history', async () => {
    for (const seed of [1, 2, 3]) expect(await runHistory({ seed })).toEqual(await runHistory({ seed }));
  });
});

test.runIf(given !== undefined)(`the history of seed ${given}`, async () => {
  await runHistory({ seed: Number(given) });
});
