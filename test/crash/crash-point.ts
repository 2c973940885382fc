import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Moment } from './deadly-store.ts';
import { DurableClient } from './durable-client.ts';

export interface CrashPoint {
  readonly at: number;
  readonly moment: Moment;
}

export interface CrashStore {
  /** Gives the environment for a server on fresh data, and what removes the data. */
  prepare(
    folder: string,
  ): Promise<{ readonly env: Readonly<Record<string, string>>; readonly clean: () => Promise<void> }>;
}

export const sqliteCrashStore: CrashStore = {
  prepare: (folder) =>
    Promise.resolve({ env: { CRASH_STORE: `sqlite:${path.join(folder, 'crash.db')}` }, clean: async () => {} }),
};

const POINT_MS_MAX = 60_000;
/** Servers start twice a point; most of a start is reading the source. */
const COMPILED = path.join(os.tmpdir(), 'holdfast-crash-compiled');
const SERVER = path.join(import.meta.dirname, 'crash-server.ts');

/** What clients do and check over a crash: it resolves when each has seen its task through, and throws at the first broken promise. */
export type Workload = (client: DurableClient, ledger: string) => Promise<void>;

/** Runs a workload over one crash. Returns whether the server died, and the names of the writes that it made. */
export async function runCrashPoint(
  point: CrashPoint,
  store: CrashStore,
  workload: Workload,
): Promise<{ readonly died: boolean; readonly writes: readonly string[] }> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'holdfast-crash-'));
  const data = await store.prepare(folder);
  const ledger = path.join(folder, 'ledger');
  const writes = path.join(folder, 'writes');
  const base = { ...process.env, ...data.env, CRASH_LEDGER: ledger, NODE_COMPILE_CACHE: COMPILED };
  const servers = new Servers();
  servers.start(
    { ...base, CRASH_AT: String(point.at), CRASH_MOMENT: point.moment, CRASH_WRITES: writes },
    { ...base, CRASH_AT: '0' },
  );
  try {
    await workload(servers.client(AbortSignal.timeout(POINT_MS_MAX)), ledger);
    return { died: servers.deaths > 0, writes: readFileSync(writes, 'utf8').trim().split('\n') };
  } finally {
    await servers.stop();
    await data.clean();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One server after another on the same data: the first may die, the second takes over and must not. */
class Servers {
  deaths = 0;
  #child: ChildProcess | undefined;
  #url: Promise<string> = Promise.reject(new Error('not started'));
  #stopping = false;

  constructor() {
    this.#url.catch(() => {});
  }

  start(env: NodeJS.ProcessEnv, next: NodeJS.ProcessEnv): void {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', SERVER], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child = child;
    this.#url = new Promise((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        const url = /listening on (http:\S+)/.exec(line)?.[1];
        if (url !== undefined) resolve(url);
      });
      child.once('exit', () => reject(new Error('the server died')));
    });
    this.#url.catch(() => {});
    child.once('exit', () => {
      if (this.#stopping) return;
      this.deaths += 1;
      if (this.deaths === 1) this.start(next, next);
    });
  }

  client(signal: AbortSignal): DurableClient {
    return new DurableClient({ url: () => this.#url, signal });
  }

  stop(): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    if (child === undefined || child.exitCode !== null) return Promise.resolve();
    return new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.kill('SIGKILL');
    });
  }
}
