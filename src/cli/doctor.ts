import { createServer } from 'node:net';
import { silentLogger } from '../base/log.ts';
import { loadCard } from '../client/card.ts';
import { cardFaults } from '../client/card-faults.ts';
import { readConfig } from '../server/config.ts';
import { openStore } from '../server/open-store.ts';
import { readSchema } from '../server/schema-admin.ts';
import { countOf, type Flags } from './client-options.ts';
import type { Io } from './io.ts';
import { field } from './render-text.ts';
import { serverSettings, storeOf, withoutPassword } from './serve-settings.ts';
import { startFault } from './start-error.ts';

interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly text: string;
}

/** `admin doctor`: looks at all that a server needs, says each in a line, and ends with 1 when something would keep it from working. */
export async function doctor(io: Io, flags: Flags): Promise<number> {
  const checks: readonly (readonly [string, () => Promise<string>])[] = [
    ['node', async () => `${process.versions.node}, SQLite ${process.versions.sqlite ?? 'none'}`],
    ['settings', async () => settings(io, flags)],
    ['schema', () => schema(io, flags)],
    ['store', () => store(io, flags)],
    ['keys', async () => keys(io, flags)],
    ['port', () => port(io, flags)],
    ...(typeof flags.agentCard === 'string' ? [['server', () => server(io, String(flags.agentCard))] as const] : []),
  ];
  const findings: Finding[] = [];
  for (const [check, look] of checks) findings.push(await finding(check, look));
  if (flags.output === 'json') io.out(`${JSON.stringify({ findings }, null, 2)}\n`);
  else io.out(findings.map(({ check, ok, text }) => field(check, `${ok ? 'ok' : 'FAILS'}, ${text}`)).join(''));
  return findings.every(({ ok }) => ok) ? 0 : 1;
}

async function finding(check: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return { check, ok: true, text: await look() };
  } catch (error) {
    return { check, ok: false, text: startFault(error) ?? (error as Error).message };
  }
}

function settings(io: Io, flags: Flags): string {
  readConfig(serverSettings(io, flags), io.env);
  const names = Object.keys(io.env).filter((name) => name.startsWith('HOLDFAST_'));
  return names.length === 0 ? 'none in the environment' : `from the environment: ${names.sort().join(', ')}`;
}

async function schema(io: Io, flags: Flags): Promise<string> {
  const place = storeOf(io, flags);
  if (place === 'memory') return 'memory has none';
  const { status } = await readSchema(place, { clock: io.clock, logger: silentLogger });
  const pending =
    status.pending.length === 0 ? 'nothing to apply' : `${status.pending.length} to apply at the next start`;
  return `version ${status.schemaVersion}, ${pending}`;
}

/** Opening a store makes it, so one that does not exist yet is left alone. */
async function store(io: Io, flags: Flags): Promise<string> {
  const place = storeOf(io, flags);
  const shown = withoutPassword(place);
  if (place.startsWith('sqlite:')) {
    const { status } = await readSchema(place, { clock: io.clock, logger: silentLogger });
    if (status.schemaVersion === 0) return `${shown} is made at the first start`;
  }
  const opened = await openStore(place, { clock: io.clock, logger: silentLogger, migrate: false });
  try {
    const { tasks, runs } = await opened.store.stats();
    const count = Object.values(tasks).reduce((sum, items) => sum + items, 0);
    return `${shown} opens: ${count} tasks, ${runs.queued} runs queued, ${runs.leased} at work, ${runs.waiting} waiting`;
  } finally {
    await opened.close();
  }
}

function keys(io: Io, flags: Flags): string {
  if (io.env.HOLDFAST_SECRETS_KEY !== undefined) return 'HOLDFAST_SECRETS_KEY is set';
  if (storeOf(io, flags).startsWith('postgres')) {
    throw new Error('HOLDFAST_SECRETS_KEY is not set; with PostgreSQL every node needs the same');
  }
  return 'kept beside the database';
}

function port(io: Io, flags: Flags): Promise<string> {
  const config = readConfig(serverSettings(io, flags), io.env);
  const at = { host: config.host ?? '127.0.0.1', port: countOf('port', flags.port) ?? config.port ?? 4000 };
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(`${at.port} on ${at.host} cannot be listened on: ${error.code ?? error.message}`)),
    );
    probe.listen(at, () => probe.close(() => resolve(`${at.port} on ${at.host} is free`)));
  });
}

async function server(io: Io, reference: string): Promise<string> {
  const parts = { fetch: io.fetch, clock: io.clock, headers: { 'a2a-version': '1.0' }, query: {} };
  const { json, card, from } = await loadCard(parts, reference, { signal: io.interrupted, cwd: io.cwd });
  const faults = cardFaults(json);
  if (faults.length > 0) throw new Error(`${from}: ${faults.join('; ')}`);
  const ready = await io.fetch(new URL('/readyz', from), { signal: io.interrupted }).catch(() => undefined);
  if (ready !== undefined && ready.status >= 500)
    throw new Error(`${card.name} says that it is not ready (HTTP ${ready.status})`);
  return `${card.name} answers, its card is valid`;
}
