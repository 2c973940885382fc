import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** A server in a process of its own. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** What it wrote so far, both streams. */
  output(): string;
  /** Closes the pipe that it logs to, as a log reader does that dies. */
  closeLog(): void;
  /** Resident megabytes now, and at their highest. */
  memory(): { readonly nowMb: number; readonly peakMb: number };
  /** `kill -9`. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  terminate(): Promise<number | null>;
}

export interface ServerStart {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** A file that takes its log in place of a pipe. */
  readonly logFile?: string;
}

/** The arguments of `holdfast serve` on a free port. */
export function serveArgs(...rest: readonly string[]): readonly string[] {
  return ['--disable-warning=ExperimentalWarning', 'src/cli/main.ts', 'serve', ...rest, '--port', '0'];
}

/** Starts `node <args>` and waits for the line that says where it listens. Rejects with what it wrote when it ends before. */
export async function startServer(start: ServerStart): Promise<ServerProcess> {
  const logFd = start.logFile === undefined ? undefined : openSync(start.logFile, 'w');
  const child = spawn(process.execPath, start.args, {
    stdio: ['ignore', 'pipe', logFd ?? 'pipe'],
    env: { ...process.env, ...start.env },
    ...(start.cwd === undefined ? {} : { cwd: start.cwd }),
  });
  if (logFd !== undefined) closeSync(logFd);
  let written = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (written += chunk.toString()));
  const url = await listeningUrl(child, () => written);
  const end = (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
    return new Promise((resolve) => {
      child.once('exit', (code) => resolve(code));
      child.kill(signal);
    });
  };
  return {
    url,
    pid: child.pid ?? 0,
    output: () => written,
    closeLog: () => child.stderr?.destroy(),
    memory: () => {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      const kb = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
      return { nowMb: kb('VmRSS') / 1024, peakMb: kb('VmHWM') / 1024 };
    },
    kill: async () => {
      await end('SIGKILL');
    },
    terminate: () => end('SIGTERM'),
  };
}

function listeningUrl(child: ChildProcess, written: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it listened: ${written()}`)));
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const url = /listening on (http:\/\/\S+)/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}
