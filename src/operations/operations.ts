import type { Agent } from '../agent/definition.ts';
import type { Instant } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { Artifact, ArtifactEntry } from '../model/artifact.ts';
import type { Cursor } from '../model/cursor.ts';
import type { StoredEvent } from '../model/event.ts';
import type { ContextId, RunId, Seq, TaskId } from '../model/ids.ts';
import type { Message } from '../model/message.ts';
import type { Run } from '../model/run.ts';
import type { Caller } from '../model/scope.ts';
import type { Session } from '../model/session.ts';
import type { Task, TaskState } from '../model/task.ts';
import type { TaskContent } from '../model/task-fold.ts';
import type { Turn } from '../model/turn.ts';
import type { Snapshot } from '../store/contract.ts';

/** What every call brings, whichever binding it came through. */
export interface Call {
  readonly caller: Caller;
  readonly agent: Agent;
  /** W3C trace id of the request, 32 hex digits. */
  readonly traceId?: string;
  /** Fires when the client has gone or the server stops waiting. */
  readonly signal: AbortSignal;
}

/**
 * A task as an answer shows it: with its content, or, where that is much, with a way to read it. Blobs are names, whose
 * bytes `readBlob` gives while they go out.
 */
export type TaskShown = Snapshot | LargeTask;

export interface LargeTask {
  readonly task: Task;
  readonly large: {
    /** About how much it is. */
    readonly bytes: number;
    /** Which content of the task it is; the same for all who want as much of it. */
    readonly key: string;
    /** The content as of the task's head seq, the same each time. */
    read(): Promise<TaskContent>;
  };
}

export interface SendParams {
  readonly message: Message;
  readonly metadata?: JsonObject;
  readonly historyLength?: number;
  readonly returnImmediately: boolean;
  readonly acceptedOutputModes: readonly string[];
  /** The client asked for push deliveries in the same breath. */
  readonly wantsPush: boolean;
}

export type SendResult =
  | { readonly kind: 'task'; readonly snapshot: TaskShown }
  | { readonly kind: 'message'; readonly message: Message };

/** An event with its place; its blobs are names, whose bytes `readBlob` gives. */
export interface StreamEvent {
  readonly kind: 'event';
  readonly event: StoredEvent;
  /** The task's identity and correlation; state columns may be older than the event. */
  readonly task: Task;
  /** The run that wrote the event, where a run did. */
  readonly runId?: RunId;
}
/** `going-away`: the server stops, the log goes on. `gone`: the task was deleted. */
export type StreamItem = StreamEvent | { readonly kind: 'going-away' } | { readonly kind: 'gone' };

/** A stream that has begun: what is wrong before this is thrown, and so becomes a plain error answer. */
export type TaskStream =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'task'; readonly first: TaskShown; readonly items: AsyncIterable<readonly StreamItem[]> };

export interface ListParams {
  readonly contextId?: ContextId;
  readonly state?: TaskState;
  readonly statusTimestampAfter?: Instant;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly historyLength?: number;
  readonly includeArtifacts: boolean;
}

export interface ListResult {
  readonly snapshots: readonly TaskShown[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}

/** The verbs of A2A, free of bindings. Each throws `CodedError`; foreign and absent ids get one answer. */
interface A2aOperations {
  sendMessage(call: Call, params: SendParams): Promise<SendResult>;
  streamMessage(call: Call, params: SendParams): Promise<TaskStream>;
  getTask(call: Call, params: { readonly id: TaskId; readonly historyLength?: number }): Promise<TaskShown>;
  listTasks(call: Call, params: ListParams): Promise<ListResult>;
  cancelTask(call: Call, params: { readonly id: TaskId }): Promise<TaskShown>;
  subscribeToTask(call: Call, params: { readonly id: TaskId }): Promise<TaskStream>;
  /** All four push operations answer this until deliveries exist. */
  pushConfig(call: Call): Promise<never>;
  getExtendedAgentCard(call: Call): Promise<never>;
}

export interface EventPage {
  readonly task: Task;
  readonly events: readonly StreamEvent[];
  readonly headSeq: Seq;
}

/** The verbs of the native API that A2A has no word for. */
interface NativeOperations {
  listSessions(
    call: Call,
    params: { readonly pageSize?: number; readonly pageToken?: string },
  ): Promise<{ readonly sessions: readonly Session[]; readonly nextPageToken: string }>;
  /** Opens a session of that name, or of a new one; a known one is given as it is. */
  openSession(call: Call, params: { readonly sessionId?: ContextId }): Promise<Session>;
  readSession(call: Call, params: { readonly sessionId: ContextId }): Promise<Session>;
  /** Cancels the session's open tasks; gives their ids. */
  abortSession(call: Call, params: { readonly sessionId: ContextId }): Promise<readonly TaskId[]>;
  readTask(
    call: Call,
    params: { readonly id: TaskId; readonly historyLength?: number; readonly historyAfter?: string },
  ): Promise<TaskShown>;
  /** One page of the log; kinds of every audience but `internal`. */
  readEvents(
    call: Call,
    params: { readonly id: TaskId; readonly after?: Seq; readonly limit?: number },
  ): Promise<EventPage>;
  /**
   * Replay, then follow; works after the end. `cursor` absent: from the start. Of another incarnation: `snapshot` first.
   * Unreadable or beyond the head: `invalid_argument` on `Last-Event-ID`.
   */
  followEvents(
    call: Call,
    params: { readonly id: TaskId; readonly cursor?: Cursor },
  ): Promise<{
    readonly snapshot?: TaskShown;
    readonly task: Task;
    readonly items: AsyncIterable<readonly StreamItem[]>;
  }>;
  listRuns(
    call: Call,
    params: { readonly id: TaskId },
  ): Promise<{ readonly task: Task; readonly runs: readonly Run[]; readonly turns: readonly Turn[] }>;
  listArtifacts(call: Call, params: { readonly id: TaskId }): Promise<readonly ArtifactEntry[]>;
  readArtifact(call: Call, params: { readonly id: TaskId; readonly artifactId: string }): Promise<Artifact>;
  resumeTask(call: Call, params: { readonly id: TaskId }): Promise<TaskShown>;
}

export type Operations = A2aOperations & NativeOperations;
