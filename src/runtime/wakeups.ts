import type { Clock } from '../base/clock.ts';

/**
 * Hints that something may have grown, by topic. They carry no data and may be lost or doubled: whoever is woken reads
 * the store, and does so after `pollMs` anyway.
 */
export interface Wakeups {
  wake(topic: string): void;
  /** From here on a wakeup of `topic` is kept for this listener until its `next`, so none falls between a read and a wait. */
  listen(topic: string): WakeupListener;
  /** Listeners in hand. */
  listening(): number;
}

export interface WakeupListener {
  /** Resolves on a wakeup since the last `next`, or after `pollMs`. Rejects with the signal's reason when that fires first. */
  next(wait: { readonly pollMs: number; readonly signal: AbortSignal }): Promise<void>;
  /** Forgets the topic. */
  close(): void;
}

/** A run was queued. */
export const RUNNABLE = 'runnable';

/** A slot that was held for a commit is free again. */
export const SLOT_FREED = 'slot-freed';

/** A timer or a cancel that falls due was committed here. */
export const DUE = 'due';

/** Wakeups within this process. */
export function createWakeups(clock: Clock): Wakeups {
  const topics = new Map<string, Set<TopicListener>>();
  return {
    wake(topic) {
      for (const listener of topics.get(topic) ?? []) listener.wake();
    },
    listen(topic) {
      const listeners = topics.get(topic) ?? new Set<TopicListener>();
      topics.set(topic, listeners);
      const listener = new TopicListener(clock, () => {
        listeners.delete(listener);
        if (listeners.size === 0 && topics.get(topic) === listeners) topics.delete(topic);
      });
      listeners.add(listener);
      return listener;
    },
    listening: () => [...topics.values()].reduce((count, listeners) => count + listeners.size, 0),
  };
}

/** A reason of our own: without one, each wakeup would make an exception with its stack. */
const WOKEN = 'woken';

class TopicListener implements WakeupListener {
  readonly #clock: Clock;
  readonly #leave: () => void;
  #isWoken = false;
  #waiter: AbortController | undefined;

  constructor(clock: Clock, leave: () => void) {
    this.#clock = clock;
    this.#leave = leave;
  }

  wake(): void {
    this.#isWoken = true;
    this.#waiter?.abort(WOKEN);
  }

  async next(wait: { readonly pollMs: number; readonly signal: AbortSignal }): Promise<void> {
    wait.signal.throwIfAborted();
    if (!this.#isWoken) await this.#sleep(wait.pollMs, wait.signal);
    wait.signal.throwIfAborted();
    this.#isWoken = false;
  }

  close(): void {
    this.#leave();
  }

  /** A sleep that a wakeup cuts short; the caller's signal is looked at afterwards. */
  async #sleep(pollMs: number, signal: AbortSignal): Promise<void> {
    const waiter = new AbortController();
    this.#waiter = waiter;
    const stop = (): void => waiter.abort(WOKEN);
    signal.addEventListener('abort', stop, { once: true });
    try {
      await this.#clock.sleep(pollMs, waiter.signal);
    } catch (error) {
      if (!waiter.signal.aborted) throw error;
    } finally {
      signal.removeEventListener('abort', stop);
      this.#waiter = undefined;
    }
  }
}
