import type { Clock } from '../base/clock.ts';
import { errorCode } from '../base/errors.ts';
import type { Random } from '../base/random.ts';

const FIRST_MS = 50;
const LONGEST_MS = 2_000;

type Source = { readonly clock: Clock; readonly random: Random };

/** Pauses between tries of a call to the store: doubling from 50 ms to 2 s, each somewhere in its upper half. */
export function createBackoff(source: Source): { pause(signal: AbortSignal): Promise<void> } {
  let tries = 0;
  return {
    pause(signal) {
      const fullMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** tries);
      tries += 1;
      return source.clock.sleep(fullMs * (0.5 + source.random.fraction() / 2), signal);
    },
  };
}

/** Whether the same call may go well later: the store is away, or has too much to do. */
export function mayHelpLater(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'unavailable' || code === 'overloaded';
}

/** Calls the store until it answers. Rejects with what no retry cures, and with the signal's reason. */
export async function untilAnswered<Result>(
  source: Source,
  signal: AbortSignal,
  call: () => Promise<Result>,
): Promise<Result> {
  for (const backoff = createBackoff(source); ; await backoff.pause(signal)) {
    try {
      signal.throwIfAborted();
      return await call();
    } catch (error) {
      if (signal.aborted || !mayHelpLater(error)) throw error;
    }
  }
}
