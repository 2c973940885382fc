import { expect, test } from 'vitest';
import { CodedError } from '../base/errors.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { createMetrics } from './metrics.ts';

const counts = { tasks: { working: 2, failed: 0 }, runs: { queued: 1 }, sessions: 3 };

test('what happened and what the store holds stand in one text', async () => {
  const metrics = createMetrics({ clock: createFakeClock(), counts: async () => counts });
  metrics.operations.ended({ name: 'getTask', agent: 'a', code: 'ok', durationMs: 3 });
  metrics.operations.streams(1);
  await metrics.measureStore('append', async () => 'done');
  await metrics.measureStore('append', () => Promise.reject(new CodedError('lease_lost'))).catch(() => 'counted');
  const { text } = await metrics.scrape();
  for (const line of [
    'holdfast_operations_total{operation="getTask",agent="a",code="ok"} 1',
    'holdfast_operation_duration_seconds_bucket{le="0.005",operation="getTask"} 1',
    'holdfast_streams_open 1',
    'holdfast_tasks{state="working"} 2',
    'holdfast_runs{state="queued"} 1',
    'holdfast_sessions 3',
    'holdfast_store_up 1',
    'holdfast_store_call_seconds_count{call="append"} 2',
    'holdfast_store_failures_total{call="append",code="lease_lost"} 1',
  ]) {
    expect(text).toContain(line);
  }
});

test('the store is counted once in five seconds, and its absence is told', async () => {
  const clock = createFakeClock();
  let reads = 0;
  let isBroken = false;
  const metrics = createMetrics({
    clock,
    counts: async () => {
      reads += 1;
      if (isBroken) throw new Error('away');
      return counts;
    },
  });
  await Promise.all([metrics.scrape(), metrics.scrape()]);
  await metrics.scrape();
  expect(reads).toBe(1);
  await clock.advance(5_001);
  isBroken = true;
  const broken = await metrics.scrape();
  expect(broken.text).toContain('holdfast_store_up 0');
  expect(broken.text).not.toContain('state="working"');
  isBroken = false;
  expect((await metrics.scrape()).text).toContain('holdfast_store_up 1');
});
