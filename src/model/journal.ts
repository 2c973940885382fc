import type { Instant } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';

/**
 * `step`: a result that was paid for. `ask`, `authorize`, `sleep`: a suspension and how it ended.
 */
export type JournalKind = 'step' | 'ask' | 'authorize' | 'sleep';
export const JOURNAL_KIND_NUMBERS = { step: 1, ask: 2, authorize: 3, sleep: 4 } as const satisfies Record<
  JournalKind,
  number
>;

/** `open`: waits (a suspension) or has begun (an at-most-once step). `done`: `result` counts. `expired`: its time ran out. `declined`: the caller said no. */
export type JournalState = 'open' | 'done' | 'expired' | 'declined';
export const JOURNAL_STATE_NUMBERS = { open: 0, done: 1, expired: 2, declined: 3 } as const satisfies Record<
  JournalState,
  number
>;

/** One recorded result of a turn, under kind + name + occurrence: `step:pay`, `ask:Ship?#2`. */
export interface JournalEntry {
  readonly key: string;
  readonly kind: JournalKind;
  readonly state: JournalState;
  /** When an open suspension ends by itself. */
  readonly dueAt?: Instant;
  /** What an open `ask` or `authorize` asked for; see `question.ts`. */
  readonly question?: JsonObject;
  /** The journal codec's text (`agent/codec.ts`) for a step; JSON for an answer. */
  readonly result?: string;
}
