import fc from 'fast-check';
import { expect, test } from 'vitest';
import { instant } from '../../base/clock.ts';
import type { AgentName } from '../../model/ids.ts';
import { type QueuedRun, ReadyRuns } from './ready-runs.ts';
import type { TaskRecord } from './records.ts';

const agents = ['a', 'b'] as AgentName[];

function add(ready: ReadyRuns, no: number, place: { agent: string; scope: string; at: number }): TaskRecord {
  const run = { no, state: 'queued', runnableAt: place.at } as unknown as QueuedRun;
  const task = { no, agent: place.agent, scope: place.scope, state: 'submitted' };
  const record = { task, activeRun: run } as unknown as TaskRecord;
  ready.add(record, run);
  return record;
}

const queue = fc.array(
  fc.record({
    agent: fc.constantFrom('a', 'b'),
    scope: fc.constantFrom('x', 'y', 'z'),
    at: fc.integer({ min: 0, max: 20 }),
    settled: fc.boolean(),
  }),
  { maxLength: 40 },
);

test('one run at a time comes out in the order of its time', () => {
  fc.assert(
    fc.property(queue, fc.integer({ min: 0, max: 20 }), (places, now) => {
      const ready = new ReadyRuns();
      const records = places.map((place, no) => add(ready, no, place));
      records.forEach((record, no) => {
        if (places[no]?.settled) record.activeRun = undefined;
      });
      const taken: number[] = [];
      for (;;) {
        const [entry] = ready.take({ agents, now: instant(now), runsMax: 1 });
        if (entry === undefined) break;
        taken.push(entry.run.no);
      }
      const waiting = places.map((place, no) => ({ ...place, no })).filter(({ settled }) => !settled);
      const inOrder = waiting.sort((a, b) => a.at - b.at || a.no - b.no);
      expect(taken).toEqual(inOrder.filter(({ at }) => at <= now).map(({ no }) => no));
      expect(ready.nextAt(agents)).toBe(inOrder.find(({ at }) => at > now)?.at);
    }),
    { numRuns: 200, seed: 2 },
  );
});

test('many at a time take from every line in turn', () => {
  const ready = new ReadyRuns();
  for (let no = 0; no < 5; no += 1) add(ready, no, { agent: 'a', scope: 'x', at: 0 });
  add(ready, 5, { agent: 'a', scope: 'y', at: 1 });
  add(ready, 6, { agent: 'b', scope: 'x', at: 2 });
  add(ready, 7, { agent: 'b', scope: 'x', at: 3 });
  const taken = ready.take({ agents: ['a', 'b', 'a'] as AgentName[], now: instant(9), runsMax: 6 });
  expect(taken.map(({ run }) => run.no)).toEqual([0, 5, 6, 1, 7, 2]);
  expect(ready.take({ agents, now: instant(9), runsMax: 0 })).toEqual([]);
});
