import type { Io } from './io.ts';

const FIRST_MS = 800;
const STEP_MS = 200;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const COLUMNS_MAX = 78;

/** Shows someone at a terminal that a long wait goes on; without a terminal it is silent. */
export class Progress {
  readonly #io: Io;
  readonly #stopped = new AbortController();
  #label: string;
  #shown = 0;
  #running: Promise<void> | undefined;

  constructor(io: Io, label: string) {
    this.#io = io;
    this.#label = label;
    if (io.hasWatcher) this.#running = this.#run();
  }

  set label(text: string) {
    this.#label = text;
  }

  /** Clears the line. Safe to call twice. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
    this.#running = undefined;
  }

  async #run(): Promise<void> {
    const { clock } = this.#io;
    const startedMs = clock.monotonicMs();
    try {
      await clock.sleep(FIRST_MS, this.#stopped.signal);
      for (let frame = 0; ; frame += 1) {
        const seconds = Math.floor((clock.monotonicMs() - startedMs) / 1_000);
        this.#draw(`${FRAMES[frame % FRAMES.length]} ${this.#label} (${seconds} s)`);
        await clock.sleep(STEP_MS, this.#stopped.signal);
      }
    } catch {
      if (this.#shown > 0) this.#io.err(`\r${' '.repeat(this.#shown)}\r`);
    }
  }

  #draw(text: string): void {
    const line = text.replace(/\p{Cc}/gu, ' ').slice(0, COLUMNS_MAX);
    this.#io.err(`\r${line}${' '.repeat(Math.max(0, this.#shown - line.length))}`);
    this.#shown = line.length;
  }
}
