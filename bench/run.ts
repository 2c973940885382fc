/*
 * `npm run bench`: Holdfast beside `@a2a-js/sdk`, each with its own store, the same agent, the same client, rounds in turn.
 * Writes the table to `bench/results.md`. `npm run bench -- --quick` takes a tenth of the time and writes nothing;
 * `--rounds=N` takes other than three rounds.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type ServerProcess, startServer } from '../test/support/server-process.ts';
import { eventsPerSecond, firstEventMs, openTarget, sendsPerSecond } from './load.ts';

interface Contestant {
  readonly name: string;
  readonly args: (folder: string) => readonly string[];
}

const HOLDFAST = [
  '--disable-warning=ExperimentalWarning',
  'src/cli/main.ts',
  'serve',
  'agents/bench.ts',
  '--port',
  '0',
  '--store',
];
const PEER = ['--disable-warning=ExperimentalWarning', 'bench/sdk-server.ts'];

const pairs: readonly { readonly store: string; readonly ours: Contestant; readonly theirs: Contestant }[] = [
  {
    store: 'memory',
    ours: { name: 'Holdfast', args: () => [...HOLDFAST, 'memory'] },
    theirs: { name: 'a2a-js SDK', args: () => [...PEER, 'memory'] },
  },
  {
    store: 'SQLite (synchronous=FULL)',
    ours: { name: 'Holdfast', args: (folder) => [...HOLDFAST, `sqlite:${path.join(folder, 'ours.db')}`] },
    theirs: { name: 'a2a-js SDK', args: (folder) => [...PEER, 'sqlite', path.join(folder, 'theirs.db')] },
  },
];

interface Measure {
  readonly name: string;
  readonly unit: string;
  /** Whether more is better. */
  readonly up: boolean;
  run(server: ServerProcess): Promise<number>;
}

const quick = process.argv.includes('--quick');
const scale = quick ? 0.1 : 1;
const rounds = Number(
  /^--rounds=(\d+)$/.exec(process.argv.find((word) => word.startsWith('--rounds=')) ?? '')?.[1] ?? 3,
);
const ROUNDS = quick ? 1 : rounds;

const measures: readonly Measure[] = [
  {
    name: 'blocking sends, 32 callers',
    unit: '/s',
    up: true,
    run: ({ url }) => sendsPerSecond(openTarget(url), { clients: 32, durationMs: 4_000 * scale }),
  },
  {
    name: 'stream events, task of 1,000 chunks',
    unit: '/s',
    up: true,
    run: ({ url }) => eventsPerSecond(openTarget(url), { chunks: 1_000, streams: 4, clients: 2 }),
  },
  {
    name: 'stream events, task of 4,000 chunks',
    unit: '/s',
    up: true,
    run: ({ url }) => eventsPerSecond(openTarget(url), { chunks: 4_000, streams: 1, clients: 1 }),
  },
  {
    name: 'first event of a stream, median',
    unit: ' ms',
    up: false,
    run: ({ url }) => firstEventMs(openTarget(url), 60 * scale),
  },
  { name: 'resident memory after the round', unit: ' MB', up: false, run: async (server) => server.memory().nowMb },
  { name: 'highest resident memory', unit: ' MB', up: false, run: async (server) => server.memory().peakMb },
];

type Figures = Map<string, number[]>;

async function round(contestant: Contestant, figures: Figures): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'holdfast-bench-'));
  const server = await startServer({ args: contestant.args(folder) });
  try {
    await sendsPerSecond(openTarget(server.url), { clients: 8, durationMs: 500 });
    for (const measure of measures) {
      const value = await measure.run(server);
      figures.set(measure.name, [...(figures.get(measure.name) ?? []), value]);
      process.stderr.write(`  ${contestant.name}: ${measure.name} ${value.toFixed(1)}${measure.unit}\n`);
    }
  } finally {
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function row(measure: Measure, ours: number, theirs: number): string {
  const ratio = measure.up ? ours / theirs : theirs / ours;
  const verdict = ratio >= 1 ? `${ratio.toFixed(1)}× better` : `${(1 / ratio).toFixed(1)}× worse`;
  return `| ${measure.name} | ${ours.toFixed(1)}${measure.unit} | ${theirs.toFixed(1)}${measure.unit} | ${verdict} |`;
}

async function comparePair(pair: (typeof pairs)[number]): Promise<string> {
  const ours: Figures = new Map();
  const theirs: Figures = new Map();
  for (let index = 0; index < ROUNDS; index += 1) {
    process.stderr.write(`${pair.store}, round ${index + 1} of ${ROUNDS}\n`);
    await round(pair.ours, ours);
    await round(pair.theirs, theirs);
  }
  const rows = measures.map((measure) =>
    row(measure, median(ours.get(measure.name) ?? []), median(theirs.get(measure.name) ?? [])),
  );
  return [
    `## ${pair.store}`,
    '',
    '| measure | Holdfast | @a2a-js/sdk 1.3 | Holdfast is |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

const sections: string[] = [];
for (const pair of pairs) sections.push(await comparePair(pair));
const report = [
  '# Benchmark',
  '',
  `Medians of ${ROUNDS} round(s) each, the two in turn, server and client on the same ${os.cpus().length} cores (${os.cpus()[0]?.model ?? 'unknown'}), Node ${process.version}.`,
  'The agent is `bench`: chunks of 64 bytes, no delay. The client speaks JSON-RPC over loopback and counts frames without parsing them.',
  'Run it with `npm run bench`. Lines where Holdfast is worse are kept.',
  '',
  ...sections,
].join('\n');
process.stdout.write(`${report}\n`);
if (!quick) writeFileSync('bench/results.md', report);
