import { systemClock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import type { Io } from '../cli/io.ts';
import { runCli } from '../cli/program.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line against a server, in a folder, with nothing else in the environment. */
export async function runCommand(
  place: { readonly url: string; readonly folder: string },
  args: readonly string[],
  more: Partial<Io> = {},
): Promise<Ran> {
  let [out, err] = ['', ''];
  const io: Io = {
    env: { A2ACLI_AGENT_CARD: place.url },
    cwd: place.folder,
    program: 'holdfast',
    home: place.folder,
    clock: systemClock,
    random: systemRandom,
    fetch,
    interrupted: new AbortController().signal,
    hasWatcher: false,
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    readStdin: async () => new Uint8Array(),
    ...more,
  };
  const never = { first: new Promise<string>(() => {}), second: new Promise<void>(() => {}) };
  const code = await runCli(args, io, never);
  return { code, out, err };
}

/** The value of a `Label: value` line; empty where there is none. */
export function field({ out }: Ran, label: string): string {
  return new RegExp(`^${label}: (.*)$`, 'm').exec(out)?.[1] ?? '';
}

/** The JSON document that a command wrote. */
export function json({ out }: Ran) {
  return JSON.parse(out);
}

/** The JSON lines that a command wrote. */
export function lines({ out }: Ran) {
  return out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
