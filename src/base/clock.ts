import type { Brand } from './brand.ts';

/** Milliseconds since the epoch, UTC. */
export type Instant = Brand<number, 'Instant'>;

export function instant(epochMs: number): Instant {
  return epochMs as Instant;
}

/** Where time comes from. Production reads the machine; tests drive a fake one. */
export interface Clock {
  now(): Instant;
  /** A steady count of milliseconds that no clock change moves; only differences mean something. */
  monotonicMs(): number;
  /** Resolves after `durationMs`; rejects with the signal's reason if aborted first. */
  sleep(durationMs: number, signal: AbortSignal): Promise<void>;
}

/** The longest delay `setTimeout` keeps; longer sleeps are cut into pieces. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now() as Instant,
  monotonicMs: () => performance.now(),
  async sleep(durationMs, signal) {
    let remainingMs = durationMs;
    do {
      const pieceMs = Math.min(remainingMs, TIMER_MS_MAX);
      await wait(pieceMs, signal);
      remainingMs -= pieceMs;
    } while (remainingMs > 0);
  },
};

function wait(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, durationMs);
    signal.addEventListener('abort', abort, { once: true });
  });
}

let lastFormatted: { readonly at: Instant; readonly text: string } = {
  at: 0 as Instant,
  text: new Date(0).toISOString(),
};

/** `2026-01-31T12:00:00.000Z`: A2A 1.0 §5.6.1, UTC with milliseconds. Events of one commit share their time, so the last one is kept. */
export function formatInstant(at: Instant): string {
  if (at !== lastFormatted.at) lastFormatted = { at, text: new Date(at).toISOString() };
  return lastFormatted.text;
}
