import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../base/clock.ts';

/** What a store counts, by name; read when somebody scrapes. */
export interface StoreCounts {
  readonly tasks: Readonly<Record<string, number>>;
  readonly runs: Readonly<Record<string, number>>;
  readonly sessions: number;
}

interface EndedOperation {
  readonly name: string;
  readonly agent: string;
  readonly code: string;
  readonly durationMs: number;
}

export interface Metrics {
  readonly operations: {
    ended(operation: EndedOperation): void;
    streams(change: 1 | -1): void;
  };
  /** Everything in the text format of Prometheus. A store that cannot be read leaves its gauges out. */
  scrape(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Counting rows costs; scrapes closer together than this share one count. */
const COUNTS_MS = 5_000;
const SECONDS_BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300];

/** Metrics of one server, in a registry of its own. */
export function createMetrics(parts: { readonly clock: Clock; readonly counts: () => Promise<StoreCounts> }): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const operations = new Counter({
    name: 'holdfast_operations_total',
    help: 'Operations that were answered, by name, agent and code.',
    labelNames: ['operation', 'agent', 'code'],
    registers,
  });
  const durations = new Histogram({
    name: 'holdfast_operation_duration_seconds',
    help: 'Time until an operation was answered, or its stream began.',
    labelNames: ['operation'],
    buckets: SECONDS_BUCKETS,
    registers,
  });
  const streams = new Gauge({ name: 'holdfast_streams_open', help: 'Streams that are open now.', registers });
  const gauges = storeGauges(registers);
  const readCounts = sharedFor(COUNTS_MS, parts);
  return {
    operations: {
      ended({ name, agent, code, durationMs }) {
        operations.inc({ operation: name, agent, code });
        durations.observe({ operation: name }, durationMs / 1_000);
      },
      streams: (change) => streams.inc(change),
    },
    async scrape() {
      gauges.set(await readCounts().catch(() => undefined));
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

function storeGauges(registers: Registry[]): { set(counts: StoreCounts | undefined): void } {
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]): Gauge<Label> =>
    new Gauge({ name, help, labelNames, registers });
  const up = gauge('holdfast_store_up', 'Whether the store could be read.', []);
  const tasks = gauge('holdfast_tasks', 'Tasks by state.', ['state']);
  const runs = gauge('holdfast_runs', 'Runs that have not settled, by state.', ['state']);
  const sessions = gauge('holdfast_sessions', 'Sessions.', []);
  return {
    set(counts) {
      up.set(counts === undefined ? 0 : 1);
      tasks.reset();
      runs.reset();
      if (counts === undefined) return;
      for (const [state, count] of Object.entries(counts.tasks)) tasks.set({ state }, count);
      for (const [state, count] of Object.entries(counts.runs)) runs.set({ state }, count);
      sessions.set(counts.sessions);
    },
  };
}

/** One read for all who ask within `ageMs`; a failed one is forgotten. */
function sharedFor(
  ageMs: number,
  { clock, counts }: { readonly clock: Clock; readonly counts: () => Promise<StoreCounts> },
): () => Promise<StoreCounts> {
  let last: { readonly atMs: number; readonly value: Promise<StoreCounts> } | undefined;
  return async () => {
    const nowMs = clock.monotonicMs();
    if (last === undefined || nowMs - last.atMs > ageMs) last = { atMs: nowMs, value: counts() };
    try {
      return await last.value;
    } catch (error) {
      last = undefined;
      throw error;
    }
  };
}
