import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** A folder of the test's own, which goes when the test is over. */
export async function testFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-sqlite-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export interface StoreProcess {
  readonly pid: number;
  /** Resolves with the n-th line it has printed. */
  line(n: number): Promise<string>;
  readonly lines: readonly string[];
  /** kill -9, and every line it printed before. */
  kill(): Promise<readonly string[]>;
}

/** A process that has the store in its hands. */
export async function startStoreProcess(mode: 'hold' | 'write', path: string): Promise<StoreProcess> {
  const script = fileURLToPath(new URL('./store-process.ts', import.meta.url));
  const child = spawn(process.execPath, [script, mode, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => lines.push(line));
  const closed = once(reader, 'close');
  const exited = failOnExit(child);
  exited.catch(() => {});
  const line = async (n: number): Promise<string> => {
    while (lines.length < n) await Promise.race([once(reader, 'line'), exited]);
    return lines[n - 1] as string;
  };
  const kill = async (): Promise<readonly string[]> => {
    child.kill('SIGKILL');
    await closed;
    return lines;
  };
  onTestFinished(async () => {
    await kill();
  });
  await line(1);
  return { pid: child.pid as number, line, lines, kill };
}

async function failOnExit(child: ChildProcess): Promise<never> {
  const [code, signal] = await once(child, 'exit');
  throw new Error(`the store process ended with ${code ?? signal}`);
}
