import type { Instant } from '../base/clock.ts';
import type { Fence, RunId, RunNo, TurnNo, WorkerNo } from './ids.ts';

/**
 * How a run ended. `parked`: its question, sign-in or sleep was settled and the turn goes on in the next run.
 * `interrupted`: the handler ended its turn waiting for the next message. `lost`: its worker died. `handed-back`: a drain.
 */
export type RunOutcome =
  | 'succeeded'
  | 'failed'
  | 'canceled'
  | 'rejected'
  | 'parked'
  | 'interrupted'
  | 'lost'
  | 'handed-back'
  | 'timed-out';

export const RUN_OUTCOME_NUMBERS = {
  succeeded: 1,
  failed: 2,
  canceled: 3,
  rejected: 4,
  parked: 5,
  interrupted: 6,
  lost: 7,
  'handed-back': 8,
  'timed-out': 9,
} as const satisfies Record<RunOutcome, number>;

/** What ends a wait: a time, the answer under a journal key, or whichever comes first. */
export interface Wake {
  readonly at?: Instant;
  readonly key?: string;
}

export type RunState = 'queued' | 'leased' | 'waiting' | 'settled' | 'held';
export const RUN_STATE_NUMBERS = { queued: 0, leased: 1, waiting: 2, settled: 3, held: 4 } as const satisfies Record<
  RunState,
  number
>;

/** One attempt at a turn by one worker. */
export type Run = {
  readonly no: RunNo;
  readonly id: RunId;
  readonly turnNo: TurnNo;
  readonly attempt: number;
  readonly startedAt?: Instant;
} & (
  | { readonly state: 'held' }
  | { readonly state: 'queued'; readonly runnableAt: Instant }
  | { readonly state: 'leased'; readonly workerNo: WorkerNo; readonly fence: Fence }
  | { readonly state: 'waiting'; readonly wake: Wake }
  | { readonly state: 'settled'; readonly outcome: RunOutcome; readonly reason?: string; readonly settledAt: Instant }
);
