import type { Agent } from '../agent/definition.ts';
import type { Clock, Instant } from '../base/clock.ts';
import type { ErrorCode } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type { Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { NewId } from '../base/unique-id.ts';
import type { StoredEvent } from '../model/event.ts';
import type { AgentName, Seq, TaskId, TaskNo, TurnNo } from '../model/ids.ts';
import type { BlobPart, Message } from '../model/message.ts';
import type { Caller } from '../model/scope.ts';
import type { Task } from '../model/task.ts';
import type { TaskContent } from '../model/task-fold.ts';
import type { RunTimes } from '../model/task-policy.ts';
import type { Grant, Snapshot, SnapshotWant, SystemStore, TurnMaterial } from '../store/contract.ts';

/** What every part of the runtime is made from. */
export interface RuntimeParts {
  readonly store: SystemStore;
  readonly agents: AgentDirectory;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  readonly log: Logger;
  readonly config: RuntimeConfig;
  readonly secrets: Secrets;
  readonly hub: CommitHub;
}

/** The agents this process serves, by routing name. */
export interface AgentDirectory {
  readonly all: readonly Agent[];
  readonly defaultAgent: Agent;
  find(name: AgentName): Agent | undefined;
}

export interface RuntimeConfig {
  readonly times: RunTimes;
  /** Runs executed at once by this process. */
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly sweepMs: number;
  /** The poll that backs wakeups, for followers, held runs and queued runs. */
  readonly pollMs: number;
  /** A blocking send answers with the task as it stands after this. */
  readonly sendWaitMaxMs: number;
  readonly replyKeepMs: number;
  readonly queuedTurnsMax: number;
  /** True for memory and SQLite: one process owns the data, so every lease found at start is dead. */
  readonly ownsStore: boolean;
  /** `holdfast dev`: a handler's real error text goes to the client. */
  readonly showErrors: boolean;
}

/** Keys derived from the one root secret; see `runtime/secrets.ts`. */
export interface Secrets {
  /** Lower-case hex HMAC-SHA-256 under the key for `purpose`. */
  hmac(purpose: 'fingerprint' | 'page-token', text: string): string;
  /** Authenticated encryption of what a thin agent's turn needs. */
  seal(bytes: Uint8Array): Uint8Array;
  /** Throws `internal` when the bytes were sealed under another key. */
  open(sealed: Uint8Array): Uint8Array;
}

/**
 * Where commits of this process are told to those who follow, after the commit returned. A hint with the events in
 * hand: a follower takes them only where they continue its seq without a hole, else it reads the store.
 */
export interface CommitHub {
  /** Called once per commit, in the order of a task's seqs. */
  publish(taskNo: TaskNo, events: readonly StoredEvent[]): void;
  /** A task is gone (retention, erase). */
  publishGone(taskNo: TaskNo): void;
  /** Called when any task gained a runnable run, so that idle claim loops look. */
  runnable(): void;
}

/** Executes granted runs. The lease engine is the one implementation; `run.engine` names it in the store. */
export interface Engine {
  readonly name: 'local';
  /** Slots free now for one more run. */
  freeSlots(): number;
  /** True while a run that has crashed twice waits to begin, or has just begun: it runs alone for a while. */
  readonly exclusive: boolean;
  /** Begins a run. `material` spares the read when the submit that granted it has everything in hand. */
  start(grant: Grant, material?: TurnMaterial): void;
  /** Tells the run of this task, if it is here, that it was canceled. Twice is once. */
  cancel(taskNo: TaskNo): void;
  /** The lease of this worker is lost, or will be before the next write lands: every run here becomes inert. */
  loseAll(): void;
  /** Tasks that execute here, for the poll that looks for cancel requests. */
  held(): readonly { readonly taskNo: TaskNo; readonly seq: Seq }[];
  /** Resolves when a slot is freed. */
  nextFree(signal: AbortSignal): Promise<void>;
  /** Lets runs end until `deadline`, then fires their signals with a drain reason and hands them back; resolves when none is held. */
  drain(deadline: Instant): Promise<void>;
}

/** A message of a caller, decoded and checked at the door. */
export interface SendRequest {
  readonly caller: Caller;
  readonly agent: Agent;
  readonly message: Message;
  /** The request's own metadata; only the skill id in it means something. */
  readonly metadata?: JsonObject;
  readonly traceId?: string;
}

/** Where a message went. */
export type Submitted =
  | {
      readonly kind: 'task';
      readonly task: Task;
      readonly taskNo: TaskNo;
      readonly turnNo: TurnNo;
      /** The `message-received` event; a stream of this message begins after it. */
      readonly messageSeq: Seq;
      /** The task right after the message was taken, when this call took it; a repeat has none. */
      readonly first?: Snapshot;
      readonly repeated: boolean;
    }
  | { readonly kind: 'reply'; readonly message: Message };

/** What a follower of a task gets. */
export type FeedItem =
  | { readonly kind: 'event'; readonly event: StoredEvent }
  /** The server stops; the reader comes back with its cursor. */
  | { readonly kind: 'going-away' }
  /** The task was deleted. */
  | { readonly kind: 'gone' };

/** The runtime as operations see it. */
export interface Runtime {
  /** The only door that creates or continues a task, and that runs a reply skill. */
  submit(request: SendRequest): Promise<Submitted>;
  /**
   * Resolves when the turn of this message is over or interrupted, the task has ended, or `sendWaitMaxMs` passed. Gives
   * all events after `after` where the task ended and they are few; the caller need not read it again.
   */
  awaitTurn(
    at: { readonly taskNo: TaskNo; readonly turnNo: TurnNo; readonly after: Seq },
    signal: AbortSignal,
  ): Promise<readonly StoredEvent[] | undefined>;
  /** Asks for the end and resolves when the task is CANCELED; throws `task_not_cancelable`, `task_not_found`. */
  cancel(request: {
    readonly caller: Caller;
    readonly agent: Agent;
    readonly taskId: TaskId;
    readonly signal: AbortSignal;
  }): Promise<void>;
  /** Clears AUTH_REQUIRED without a message of the client's. */
  resume(request: { readonly caller: Caller; readonly agent: Agent; readonly taskId: TaskId }): Promise<void>;
  /** The only reader that follows a task: every event after `after`, in order, without gap, until the task is terminal, the signal fires, or the server stops. */
  follow(
    taskNo: TaskNo,
    from: { readonly after: Seq; readonly signal: AbortSignal },
  ): AsyncIterable<readonly FeedItem[]>;
  /** The task with its content, blobs left as they are. Undefined for foreign and absent ids alike. */
  snapshot(
    at: { readonly caller: Caller; readonly agent: Agent; readonly taskId: TaskId },
    want: SnapshotWant,
  ): Promise<Snapshot | undefined>;
  /** The content of a task as it stood at `headSeq`, the same each time. `too-large`: it passes `bytesMax`. `gone`: the task does. */
  contentAt(
    taskNo: TaskNo,
    at: { readonly headSeq: Seq; readonly want: SnapshotWant; readonly bytesMax: number },
  ): Promise<TaskContent | 'gone' | 'too-large'>;
  /** The bytes of a blob in order, a slice at a time. */
  readBlob(blob: Pick<BlobPart, 'blobNo' | 'bytes'>): AsyncIterable<Uint8Array>;
  /** Identity of the log, for cursors. */
  readonly incarnation: string;
  readonly draining: boolean;
}

/** A run's safe error text and what stands in the log beside it. */
export interface SafeFailure {
  readonly code: ErrorCode | string;
  readonly text: string;
  readonly errorId: string;
}
