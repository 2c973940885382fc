import type { Io } from './io.ts';

const WARN = 40;

/**
 * Where the log of a server goes: to stderr, but not before its port is open. A start that fails says why in one line, so
 * what was logged on the way there is left out, unless it is a warning.
 */
export class StartLog {
  readonly #io: Io;
  #held: string[] | undefined = [];

  constructor(io: Io) {
    this.#io = io;
  }

  write(line: string): void {
    if (this.#held === undefined) this.#io.err(line);
    else this.#held.push(line);
  }

  /** The port is open. */
  release(): void {
    this.#flush(() => true);
  }

  /** The start failed. */
  drop(): void {
    this.#flush((line) => Number(/"level":(\d+)/.exec(line)?.[1] ?? WARN) >= WARN);
  }

  #flush(isKept: (line: string) => boolean): void {
    const lines = this.#held ?? [];
    this.#held = undefined;
    for (const line of lines) if (isKept(line)) this.#io.err(line);
  }
}
