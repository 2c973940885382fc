import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Moment } from './deadly-store.ts';
import { DurableClient, type SeenEvent } from './durable-client.ts';

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
const SERVER = path.join(import.meta.dirname, 'crash-server.ts');

/** Runs the workload over one crash and checks what every client saw. Returns whether the server died, and how many writes it made. */
export async function runCrashPoint(
  point: CrashPoint,
  store: CrashStore,
): Promise<{ readonly died: boolean; readonly writes: number }> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'holdfast-crash-'));
  const data = await store.prepare(folder);
  const ledger = path.join(folder, 'ledger');
  const count = path.join(folder, 'count');
  const base = { ...process.env, ...data.env, CRASH_LEDGER: ledger };
  const servers = new Servers();
  servers.start(
    { ...base, CRASH_AT: String(point.at), CRASH_MOMENT: point.moment, CRASH_COUNT: count },
    { ...base, CRASH_AT: '0' },
  );
  try {
    await workload(servers.client(AbortSignal.timeout(POINT_MS_MAX)), ledger);
    return { died: servers.deaths > 0, writes: Number(readFileSync(count, 'utf8')) };
  } finally {
    await servers.stop();
    await data.clean();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One server after another on the same data: the first may die, the second takes over. */
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
      this.start(next, next);
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

/** What clients of all kinds do at once; it resolves when each has seen its task through, and throws at the first broken promise. */
async function workload(client: DurableClient, ledger: string): Promise<void> {
  await Promise.all([stream(client), order(client), timer(client), cancel(client)]);
  checkLedger(ledger);
}

async function stream(client: DurableClient): Promise<void> {
  const { id } = await client.send('stream');
  const seen = await client.follow(id);
  const task = await client.until(id, ['TASK_STATE_COMPLETED']);
  const text = task.artifacts
    ?.find((artifact) => artifact.name === 'lines')
    ?.parts.map((part) => part.text)
    .join('');
  assert.equal(
    text,
    Array.from({ length: 40 }, (_, index) => `${index}\n`).join(''),
    'the artifact holds each line once and in order',
  );
  await checkLog(client, id, seen);
}

async function order(client: DurableClient): Promise<void> {
  const { id } = await client.send('order');
  const following = client.follow(id);
  await client.until(id, ['TASK_STATE_INPUT_REQUIRED']);
  await client.send('order', { taskId: id, data: { count: 3 } });
  const seen = await following;
  await checkLog(client, id, seen);
  const task = await client.until(id, ['TASK_STATE_COMPLETED']);
  assert.equal(task.artifacts?.find((artifact) => artifact.name === 'result')?.parts[0]?.text, 'charged for 3');
  assert.equal(
    seen.filter((event) => event.kind === 'message-received').length,
    2,
    'each message stands in the log once',
  );
}

async function timer(client: DurableClient): Promise<void> {
  const { id } = await client.send('timer');
  const seen = await client.follow(id);
  await checkLog(client, id, seen);
  const task = await client.until(id, ['TASK_STATE_COMPLETED']);
  assert.equal(task.artifacts?.find((artifact) => artifact.name === 'result')?.parts[0]?.text, 'nobody');
}

async function cancel(client: DurableClient): Promise<void> {
  const { id } = await client.send('endless');
  const following = client.follow(id);
  await client.until(id, ['TASK_STATE_WORKING']);
  const task = await client.cancel(id);
  assert.equal(task.status.state, 'TASK_STATE_CANCELED');
  await checkLog(client, id, await following);
}

/** The log is whole, says what the stream said, ends with the one terminal status, and leaves no run open. */
async function checkLog(client: DurableClient, id: string, seen: readonly SeenEvent[]): Promise<void> {
  const log = await client.log(id);
  assert.deepEqual(
    log.map((event) => event.seq),
    log.map((_, index) => index + 1),
    'the log has no gaps',
  );
  assert.deepEqual(
    seen.map((event) => event.seq),
    log.map((event) => event.seq),
    'the stream gave every event once, in order',
  );
  seen.forEach((event, index) => {
    assert.deepEqual(
      JSON.parse(event.text),
      JSON.parse(log[index]?.text ?? 'null'),
      'the stream and the log say the same',
    );
  });
  const terminal = log.filter(
    (event) => event.kind === 'status-changed' && /TASK_STATE_(COMPLETED|FAILED|CANCELED|REJECTED)/.test(event.text),
  );
  assert.equal(terminal.length, 1, 'there is exactly one terminal status');
  assert.equal(terminal[0]?.seq, log.at(-1)?.seq, 'the terminal status is the last event');
  const open = (await client.runs(id)).filter((run) => run.state !== 'settled');
  assert.deepEqual(open, [], 'no run is left open');
}

/** One crash: an effect may have been tried twice, always under one key. */
function checkLedger(file: string): void {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  for (const name of ['reserve', 'charge', 'give-up']) {
    const of = lines.filter((line) => line.startsWith(`${name} `));
    assert.ok(of.length >= 1 && of.length <= 2, `${name} ran ${of.length} times`);
    assert.equal(new Set(of).size, 1, `${name} had one idempotency key`);
  }
}
