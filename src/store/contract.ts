import type { Instant } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { Artifact, ArtifactEntry } from '../model/artifact.ts';
import type { NewEvent, StoredEvent } from '../model/event.ts';
import type {
  AgentName,
  ArtifactId,
  BlobNo,
  ContextId,
  Fence,
  MessageId,
  RunId,
  RunNo,
  Seq,
  SessionNo,
  TaskId,
  TaskNo,
  ThreadId,
  TurnNo,
  WorkerId,
  WorkerNo,
} from '../model/ids.ts';
import type { JournalEntry } from '../model/journal.ts';
import type { Page, TaskPlace } from '../model/page.ts';
import type { Run } from '../model/run.ts';
import type { Scope } from '../model/scope.ts';
import type { Session } from '../model/session.ts';
import type { Task, TaskState } from '../model/task.ts';
import type { TaskContent } from '../model/task-fold.ts';
import type { TaskView } from '../model/task-view.ts';
import type { Fingerprint, JournalWrite, NewDeadline, NewRun, NewTurn, TaskWrite } from '../model/task-write.ts';
import type { Turn } from '../model/turn.ts';
import type { MemoryStore, MemoryWrite } from './memory-contract.ts';

/*
 * Rules that hold for every method.
 *
 * - One transaction each, all or nothing. When a write's promise resolves, it is durable.
 * - Values are copied in and out; nothing returned changes afterwards.
 * - The store gives events their `seq` (gapless) and `at` (max of the store's clock and the previous event's).
 *   Durations become instants by the store's clock.
 * - A broken store throws `unavailable` (retry may help) and has written nothing, or the caller cannot know;
 *   every write here can be told apart afterwards: by head seq, by emit number, by message id.
 */

/** A place for rows of one agent in one scope. "Not yours", "another agent's" and "does not exist" are one answer: undefined. */
export interface ScopedStore {
  /** The task with all that a command is decided on, read at one moment. */
  readTask(taskId: TaskId): Promise<TaskView | undefined>;
  /** The row and its content, both as of the row's own head seq. */
  readSnapshot(taskId: TaskId, want: SnapshotWant): Promise<Snapshot | undefined>;
  /** Rows of the scope, newest status first. Each comes once; one whose status changes while a reader pages may be passed over, and takes no other along. */
  listTasks(query: TaskQuery): Promise<Page<Task>>;
  /** How many rows `listTasks` would give over all its pages. */
  countTasks(query: Omit<TaskQuery, 'pageItems' | 'after'>): Promise<number>;

  readSession(contextId: ContextId): Promise<Session | undefined>;
  /** The session of a context: the known one, or an empty one that is opened now. Any number of calls at once open one. */
  openSession(request: NewSession): Promise<Session>;
  /** Newest first; `after` is the last session of the page before. */
  listSessions(query: { readonly pageItems: number; readonly after?: SessionNo }): Promise<Page<Session>>;
  listRuns(taskId: TaskId): Promise<readonly Run[] | undefined>;
  listTurns(taskId: TaskId): Promise<readonly Turn[] | undefined>;
  /** Without content, both origins. */
  listArtifacts(taskId: TaskId): Promise<readonly ArtifactEntry[] | undefined>;
  readArtifact(taskId: TaskId, artifactId: ArtifactId): Promise<Artifact | undefined>;

  /** The message that was used before in this scope, if it is still remembered. */
  findMessage(messageId: MessageId): Promise<KnownMessage | undefined>;
  /**
   * Creates session (unless the context is known), task, turn, run, events, input artifacts and the idempotency row.
   * Of any number of submits of one message id in a scope, on any node, exactly one is `created`.
   */
  submit(request: SubmitRequest): Promise<SubmitResult>;
  /**
   * Changes a task that still has the head seq it was decided on. `moved`: it has another, nothing was written; decide again.
   * `repeated`: the message id is known, nothing was written.
   */
  command(taskId: TaskId, headSeq: Seq, write: TaskWrite): Promise<CommandResult>;

  /**
   * Opens the idempotency row of a reply skill's message. Exactly one caller at a time holds it: the row of a dead worker is taken over with a larger fence.
   */
  beginReply(request: {
    readonly messageId: MessageId;
    readonly fingerprint: Fingerprint;
    readonly workerNo: WorkerNo;
  }): Promise<
    { readonly kind: 'begun'; readonly fence: Fence } | { readonly kind: 'known'; readonly message: KnownMessage }
  >;
  /** Stores the reply and the memory writes together. False (nothing written) when another worker has taken the row over. */
  finishReply(request: FinishReply): Promise<boolean>;
  /** Forgets a message whose reply failed, so that a repeat runs it again. Nothing changes where the row is another's by now. */
  dropReply(request: HeldReply): Promise<void>;

  readonly memories: MemoryStore;
}

/** What the runtime itself needs, over all agents and scopes. Doors may not import it. */
export interface SystemStore {
  readonly name: 'memory' | 'sqlite' | 'postgres';
  scoped(agent: AgentName, scope: Scope): ScopedStore;
  /** Identity of the data; `incarnation` changes when it was restored or failed over. */
  installation(): Promise<{ readonly id: string; readonly incarnation: string; readonly schemaVersion: number }>;
  now(): Promise<Instant>;

  /** A worker with a lease of `leaseMs` from now. A number is never given twice. */
  registerWorker(request: {
    readonly workerId: WorkerId;
    readonly agents: readonly AgentName[];
    readonly leaseMs: number;
  }): Promise<WorkerNo>;
  /** Extends the lease. False when the worker was swept: it is dead for ever. */
  renewWorker(request: { readonly workerNo: WorkerNo; readonly leaseMs: number }): Promise<boolean>;
  /** Marks workers whose lease ran out as dead; with `all` (one process owns the data) every worker but `except`. Returns how many died. */
  buryWorkers(request: { readonly all: boolean; readonly except?: WorkerNo }): Promise<number>;
  /** Ends the lease at once (after a drain, when nothing is held). */
  retireWorker(workerNo: WorkerNo): Promise<void>;

  /**
   * Leases runnable runs, the longest runnable first, agents and scopes interleaved. No run is leased twice at once, and
   * every grant of a task carries a larger fence than the last. Sets emitNo to 0, counts the attempt on the turn, and
   * appends `run-started`, and `status-changed` to working where the task was submitted.
   */
  claim(request: ClaimRequest): Promise<readonly Grant[]>;
  /** When the next queued run becomes runnable, for agents of this worker; undefined when none is queued. */
  nextRunnableAt(agents: readonly AgentName[]): Promise<Instant | undefined>;

  /**
   * Appends in order while `grant` is the task's newest, the task is working, and `emitNo` is the number of facts this grant wrote so far.
   * A batch that was committed before is a success (`repeated`). Otherwise throws `lease_lost` and writes nothing.
   * Costs the same however long the log and its artifacts are.
   */
  append(grant: Grant, batch: FactBatch): Promise<AppendResult>;
  /**
   * As `append`, and only while the head seq is the one that the settlement was decided on; `moved` otherwise.
   * The facts come before the write's events. Throws `lease_lost` like `append`.
   */
  settle(grant: Grant, request: SettleRequest): Promise<CommandResult>;
  /** `ScopedStore.command` for the runtime's own reasons: sweep, deadlines, timers. */
  command(taskNo: TaskNo, headSeq: Seq, write: TaskWrite): Promise<CommandResult>;

  readView(taskNo: TaskNo): Promise<TaskView | undefined>;
  /** What an executor starts from: the turn's message, journal, and artifacts with content, as of one moment. */
  readTurn(grant: Grant): Promise<TurnMaterial>;
  /** Events after `after` in order, ending after `eventsMax` or after the event that passes `bytesMax`. Undefined when the task is gone. */
  readEvents(
    taskNo: TaskNo,
    range: { readonly after: Seq; readonly eventsMax: number; readonly bytesMax: number },
  ): Promise<readonly StoredEvent[] | undefined>;
  /** Head seqs of tasks that moved past what the caller has; tasks that are gone have head 0. One statement however many. */
  readHeads(
    tasks: readonly { readonly taskNo: TaskNo; readonly seq: Seq }[],
  ): Promise<readonly { readonly taskNo: TaskNo; readonly headSeq: Seq; readonly cancelRequested: boolean }[]>;

  /** Tasks whose deadline has passed, earliest first. */
  dueDeadlines(itemsMax: number): Promise<readonly TaskNo[]>;
  /** Tasks with a waiting run whose time has come, earliest first. */
  dueTimers(itemsMax: number): Promise<readonly TaskNo[]>;
  /** Tasks with a run that is leased to a dead worker, to one that does not exist, or to none; and live tasks that have no active run though their state asks for one. */
  orphans(itemsMax: number): Promise<readonly TaskNo[]>;

  /**
   * Runs that are leased to this worker now. A worker that does not execute one of them lost the answer to its grant;
   * a store that gives such a grant again with the next claim, or whose commits never end in doubt, need not offer it.
   */
  leasedTo?(workerNo: WorkerNo): Promise<readonly { readonly taskNo: TaskNo; readonly fence: Fence }[]>;

  readSessionState(sessionNo: SessionNo, key: string): Promise<string | undefined>;

  /** Writes one slice; `blobNo` absent opens a new blob. Each slice is a commit of its own. Staged blobs that no event took up are removed by `dropStagedBlobs`. */
  stageSlice(request: {
    readonly blobNo?: BlobNo;
    readonly sliceNo: number;
    readonly data: Uint8Array;
    readonly total: { readonly bytes: number; readonly sha256: string };
  }): Promise<BlobNo>;
  readBlobSlice(blobNo: BlobNo, sliceNo: number): Promise<Uint8Array | undefined>;
  dropStagedBlobs(request: { readonly olderThanMs: number; readonly itemsMax: number }): Promise<number>;

  /** Rows of every agent and scope, the newest task first; for operators. */
  listTasks(query: OperatorTaskQuery): Promise<readonly Task[]>;
  /** Counts by state, for doctor and metrics. */
  stats(): Promise<StoreStats>;
  /** Ends every transaction in hand, then closes. Safe to call twice. */
  close(): Promise<void>;
}

export interface SnapshotWant {
  /** The newest this many messages; undefined = all; 0 = none. */
  readonly historyMax?: number;
  readonly artifacts: boolean;
}

/** A task with its content, as of `task.headSeq`. */
export interface Snapshot {
  readonly task: Task;
  readonly content: TaskContent;
}

export interface TaskQuery {
  readonly contextId?: ContextId;
  readonly state?: TaskState;
  /** Inclusive: tasks whose status is at least this new (A2A 1.0 §3.1.4). */
  readonly stateAtFrom?: Instant;
  readonly pageItems: number;
  readonly after?: TaskPlace;
}

/** A session to be opened where its context is not known. */
export interface NewSession {
  readonly contextId: ContextId;
  readonly threadId: ThreadId;
}

export type KnownMessage = { readonly fingerprint: Fingerprint } & (
  | { readonly state: 'executing' }
  | {
      readonly state: 'task';
      readonly taskId: TaskId;
      readonly taskNo: TaskNo;
      readonly turnNo: TurnNo;
      readonly messageSeq: Seq;
    }
  | { readonly state: 'reply' /** The model's Message as JSON. */; readonly reply: string }
);

export interface SubmitRequest {
  readonly taskId: TaskId;
  /** Opened in this scope if it is not known. */
  readonly contextId: ContextId;
  /** For a session that is opened now. */
  readonly threadId: ThreadId;
  /** `idempotency: 'off'` leaves no row. */
  readonly idempotency?: { readonly messageId: MessageId; readonly fingerprint: Fingerprint };
  /** Begins with `task-created`, then `message-received`, then input artifacts, then the first `status-changed`. */
  readonly events: readonly NewEvent[];
  readonly turn: NewTurn;
  readonly run: NewRun;
  /** Leases the run to this worker at once, as `claim` would, in the same transaction: its events follow the request's, its deadline is the request's. */
  readonly grantTo?: { readonly workerNo: WorkerNo; readonly workerId: WorkerId };
  readonly blobs: readonly BlobNo[];
  readonly deadline: NewDeadline | undefined;
  readonly totalMs?: number;
  readonly trace?: string;
  readonly metadata?: JsonObject;
}

export type SubmitResult =
  | { readonly kind: 'created'; readonly task: Task; readonly events: readonly StoredEvent[]; readonly grant?: Grant }
  | { readonly kind: 'repeated'; readonly message: KnownMessage };

export type CommandResult =
  | { readonly kind: 'written'; readonly task: Task; readonly events: readonly StoredEvent[]; readonly grant?: Grant }
  | { readonly kind: 'moved' }
  | { readonly kind: 'repeated'; readonly message?: KnownMessage }
  /** The task is gone. */
  | { readonly kind: 'gone' };

/** What a run writes while it executes. */
export type Fact =
  | { readonly kind: 'event'; readonly event: NewEvent; readonly blobs?: readonly BlobNo[] }
  | { readonly kind: 'journal'; readonly entry: JournalWrite }
  /** Undefined deletes the key. */
  | { readonly kind: 'session-state'; readonly key: string; readonly value: string | undefined };

export interface FactBatch {
  /** Facts this grant wrote before: the place of the first fact of this batch. */
  readonly emitNo: number;
  readonly facts: readonly Fact[];
  /** The idle deadline starts anew; `facts` may be empty for a sign of life. */
  readonly deadline?: NewDeadline;
}

/** `events` of a repeat are the newest of the log, as many as the batch had: the batch itself, unless a command came after it. */
export type AppendResult = {
  readonly kind: 'written' | 'repeated';
  readonly events: readonly StoredEvent[];
  readonly headSeq: Seq;
};

export interface SettleRequest extends FactBatch {
  readonly headSeq: Seq;
  readonly write: TaskWrite;
}

export interface ClaimRequest {
  readonly workerNo: WorkerNo;
  readonly workerId: WorkerId;
  readonly agents: readonly AgentName[];
  readonly runsMax: number;
  /** The idle deadline of a run that starts. */
  readonly deadline?: NewDeadline;
}

/** The right to execute one run of a task, and what every write under it is checked against. */
export interface Grant {
  readonly taskNo: TaskNo;
  readonly taskId: TaskId;
  readonly agent: AgentName;
  readonly scope: Scope;
  readonly sessionNo: SessionNo;
  readonly contextId: ContextId;
  readonly threadId: ThreadId;
  readonly runNo: RunNo;
  readonly runId: RunId;
  readonly turn: Turn;
  readonly attempt: number;
  readonly workerNo: WorkerNo;
  readonly fence: Fence;
  /** Head seq right after the grant. */
  readonly headSeq: Seq;
  readonly trace?: string;
  readonly events: readonly StoredEvent[];
}

/** What an executor starts from. */
export interface TurnMaterial {
  readonly task: Task;
  readonly content: TaskContent;
  readonly message: StoredEvent & { readonly kind: 'message-received' };
  /** Encrypted message of an agent that keeps no content. */
  readonly input?: Uint8Array;
  /** Of the turn, in the order in which the keys were first written. */
  readonly journal: readonly JournalEntry[];
}

/** The row of a reply that executes: under its fence or, where `beginReply` failed and may have written it, of the worker it was begun for. */
export type HeldReply = { readonly messageId: MessageId } & (
  | { readonly fence: Fence }
  | { readonly workerNo: WorkerNo }
);

export interface FinishReply {
  readonly messageId: MessageId;
  readonly fence: Fence;
  readonly reply: string;
  readonly keepMs: number;
  readonly memoryWrites: readonly MemoryWrite[];
}

export interface OperatorTaskQuery {
  readonly itemsMax: number;
  readonly state?: TaskState;
  readonly agent?: AgentName;
}

export interface StoreStats {
  readonly tasks: Readonly<Record<TaskState, number>>;
  readonly runs: { readonly queued: number; readonly leased: number; readonly waiting: number };
  readonly sessions: number;
  readonly events: number;
}
