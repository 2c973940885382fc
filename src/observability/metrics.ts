import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../base/clock.ts';
import { errorCode } from '../base/errors.ts';

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
  /** Times a call of the store under its name, and counts the codes of those that failed. */
  readonly measureStore: <Result>(name: string, call: () => Promise<Result>) => Promise<Result>;
  /** Everything in the text format of Prometheus. A store that cannot be read leaves its gauges out. */
  scrape(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Counting rows costs; scrapes closer together than this share one count. */
const COUNTS_MS = 5_000;
const STORE_SECONDS_BUCKETS = [0.0005, 0.002, 0.01, 0.05, 0.25, 1, 5];
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
  const measureStore = storeMeasure(registers, parts.clock);
  const readCounts = sharedFor(COUNTS_MS, parts);
  return {
    operations: {
      ended({ name, agent, code, durationMs }) {
        operations.inc({ operation: name, agent, code });
        durations.observe({ operation: name }, durationMs / 1_000);
      },
      streams: (change) => streams.inc(change),
    },
    measureStore,
    async scrape() {
      gauges.set(await readCounts().catch(() => undefined));
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

function storeMeasure(registers: Registry[], clock: Clock): Metrics['measureStore'] {
  const seconds = new Histogram({
    name: 'holdfast_store_call_seconds',
    help: 'Time of a call of the store, by its name.',
    labelNames: ['call'],
    buckets: STORE_SECONDS_BUCKETS,
    registers,
  });
  const failures = new Counter({
    name: 'holdfast_store_failures_total',
    help: 'Calls of the store that threw, by name and code.',
    labelNames: ['call', 'code'],
    registers,
  });
  const timers = new Map<string, Histogram.Internal<'call'>>();
  return async (name, call) => {
    const timer = timers.get(name) ?? seconds.labels(name);
    timers.set(name, timer);
    const startedMs = clock.monotonicMs();
    try {
      return await call();
    } catch (error) {
      failures.inc({ call: name, code: errorCode(error) });
      throw error;
    } finally {
      timer.observe((clock.monotonicMs() - startedMs) / 1_000);
    }
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
