import type { Clock, Instant } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Service } from '../base/service.ts';
import type { WakeupListener, Wakeups } from './wakeups.ts';

export interface LoopOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** One round. It waits for its next reason to run by itself, and ends early when the signal fires. */
  readonly round: (signal: AbortSignal) => Promise<void>;
  /** Pause after a round that failed, so that a broken store is not hammered. */
  readonly errorPauseMs: number;
}

/**
 * A round that is repeated until stop. A round that throws is logged and the loop goes on: none of the runtime's loops
 * may end because the store was away for a moment. Starting twice is once; a stop waits for the round in hand.
 */
export function createLoop(options: LoopOptions): Service {
  let running: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
  return {
    name: options.name,
    async start() {
      if (running !== undefined) return;
      const stop = new AbortController();
      running = { stop, ended: repeat(options, stop.signal) };
    },
    async stop(_deadline: Instant) {
      const current = running;
      if (current === undefined) return;
      current.stop.abort();
      await current.ended;
      if (running === current) running = undefined;
    },
  };
}

/**
 * The same for a loop that waits for wakeups: it listens from its first round on, so that none falls between a look and a
 * wait, and until it is stopped.
 */
export function createListeningLoop(
  options: Omit<LoopOptions, 'round'> & {
    readonly wakeups: Wakeups;
    readonly topic: string;
    readonly round: (signal: AbortSignal, listener: WakeupListener) => Promise<void>;
  },
): Service {
  let listener: WakeupListener | undefined;
  const loop = createLoop({
    ...options,
    round: (signal) => {
      listener ??= options.wakeups.listen(options.topic);
      return options.round(signal, listener);
    },
  });
  return {
    ...loop,
    async stop(deadline: Instant) {
      await loop.stop(deadline);
      listener?.close();
      listener = undefined;
    },
  };
}

async function repeat(options: LoopOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await options.round(signal);
    } catch (error) {
      if (signal.aborted) return;
      options.log.warn('round failed', { service: options.name, error });
      await options.clock.sleep(options.errorPauseMs, signal).catch(() => 'stopped');
    }
  }
}

/** Work that is awaited no longer than until the signal fires; what comes of it later is not lost, only not waited for. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let abort: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (abort !== undefined) signal.removeEventListener('abort', abort);
  }
}
