import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** A server in a process of its own. */
export interface ServerProcess {
  readonly url: string;
  /** Resident megabytes now, and at their highest. */
  memory(): { readonly nowMb: number; readonly peakMb: number };
  stop(): Promise<void>;
}

/** Starts `node <args>` and waits for the line that says where it listens. */
export async function startServer(args: readonly string[]): Promise<ServerProcess> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await listeningUrl(child);
  return {
    url,
    memory: () => {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      const kb = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
      return { nowMb: kb('VmRSS') / 1024, peakMb: kb('VmHWM') / 1024 };
    },
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGKILL');
      }),
  };
}

function listeningUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    if (child.stdout === null) throw new Error('the server has no stdout');
    child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it listened`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const url = /listening on (http:\/\/\S+)/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}
