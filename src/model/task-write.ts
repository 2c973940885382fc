import type { Instant } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { NewEvent } from './event.ts';
import type { BlobNo, MessageId, RunId, RunNo, TurnNo, WorkerId, WorkerNo } from './ids.ts';
import type { JournalKind, JournalState } from './journal.ts';
import type { RunOutcome } from './run.ts';
import type { Principal } from './scope.ts';
import type { DeadlineKind } from './task.ts';

/** Keyed digest of a message's meaning (`runtime/fingerprint.ts`), with the version of the recipe. */
export interface Fingerprint {
  readonly version: number;
  /** Lower-case hex. */
  readonly digest: string;
}

export interface NewTurn {
  readonly turnNo: TurnNo;
  readonly messageId: MessageId;
  /** Place of the `message-received` event among the write's events, counted from 1. */
  readonly messageOrdinal: number;
  readonly skill: string;
  readonly principal: Principal;
  readonly agentVersion: string;
  /** Encrypted message of an agent that keeps no content; removed when the turn settles. */
  readonly input?: Uint8Array;
}

export interface NewRun {
  readonly id: RunId;
  readonly turnNo: TurnNo;
  readonly attempt: number;
  /** Runnable this long from now. */
  readonly delayMs: number;
}

export interface NewDeadline {
  readonly kind: DeadlineKind;
  readonly inMs: number;
}

/** What a change of run rows does, in the order in which it is applied. */
export type RunWrite =
  | { readonly kind: 'settle'; readonly runNo: RunNo; readonly outcome: RunOutcome; readonly reason?: string }
  /** leased → waiting. The lease ends; the fence does not matter to it any more, since nobody holds it. */
  | { readonly kind: 'park'; readonly runNo: RunNo; readonly wakeAt?: Instant; readonly wakeKey?: string }
  | { readonly kind: 'queue'; readonly run: NewRun };

export type TurnWrite =
  | { readonly kind: 'begin'; readonly turn: NewTurn }
  | { readonly kind: 'enqueue'; readonly turn: NewTurn }
  | { readonly kind: 'activate'; readonly turnNo: TurnNo }
  | { readonly kind: 'settle'; readonly turnNo: TurnNo }
  | { readonly kind: 'drop'; readonly turnNo: TurnNo }
  | { readonly kind: 'charge-crash'; readonly turnNo: TurnNo };

/** Puts one journal row, replacing the one under its key. */
export interface JournalWrite {
  readonly turnNo: TurnNo;
  readonly key: string;
  readonly kind: JournalKind;
  readonly state: JournalState;
  readonly dueAt?: Instant;
  readonly question?: JsonObject;
  readonly result?: string;
}

/** One change of a task: events, and the rows that follow from them. The pure deciders make it; `command` and `settle` write it. */
export interface TaskWrite {
  readonly events: readonly NewEvent[];
  readonly runs?: readonly RunWrite[];
  readonly turns?: readonly TurnWrite[];
  readonly journal?: readonly JournalWrite[];
  /** Grows the fence, so that whoever held the task writes no more. Every end, sweep, hand-back and park does. */
  readonly revokeFence?: boolean;
  /** `keep` (default), none, or another. The store takes the nearer of it and `totalAt` while the task lives, and none at its end. */
  readonly deadline?: 'keep' | 'none' | NewDeadline;
  readonly idempotency?: { readonly messageId: MessageId; readonly fingerprint: Fingerprint; readonly turnNo: TurnNo };
  readonly blobs?: readonly BlobNo[];
  /** Leases the run of the last `queue` to this worker at once, as `claim` would. */
  readonly grantTo?: { readonly workerNo: WorkerNo; readonly workerId: WorkerId };
}
