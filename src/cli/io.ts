import os from 'node:os';
import { type Clock, systemClock } from '../base/clock.ts';
import { type Random, systemRandom } from '../base/random.ts';
import { programName } from './program-name.ts';

/** What a command has of the world around it; tests hand in their own. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The words that call this program, for commands that it prints. */
  readonly program: string;
  readonly home: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly fetch: typeof fetch;
  /** Fires when the user wants to stop: Ctrl-C, SIGTERM. */
  readonly interrupted: AbortSignal;
  /** Someone watches stderr, so progress may be shown there. */
  readonly hasWatcher: boolean;
  out(text: string): void;
  err(text: string): void;
  readStdin(): Promise<Uint8Array>;
}

/** What cannot be told to anybody must not keep a server from serving: a full disk throws here, a closed pipe emits. */
function writeError(text: string): void {
  try {
    process.stderr.write(text);
  } catch {
    // There is no other place to say it.
  }
}

export function systemIo(interrupted: AbortSignal): Io {
  return {
    env: process.env,
    cwd: process.cwd(),
    program: programName({ file: process.argv[1] ?? 'holdfast', cwd: process.cwd(), env: process.env }),
    home: os.homedir(),
    clock: systemClock,
    random: systemRandom,
    fetch: globalThis.fetch,
    interrupted,
    hasWatcher: process.stderr.isTTY === true,
    out: (text) => void process.stdout.write(text),
    err: writeError,
    async readStdin() {
      const chunks: Uint8Array[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk);
      return Buffer.concat(chunks);
    },
  };
}
