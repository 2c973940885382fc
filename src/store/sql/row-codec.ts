import { assert, unreachable } from '../../base/assert.ts';
import { instant } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ArtifactEntry, ArtifactHeader } from '../../model/artifact.ts';
import type {
  AgentName,
  ArtifactId,
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
  WorkerNo,
} from '../../model/ids.ts';
import { JOURNAL_KIND_NUMBERS, JOURNAL_STATE_NUMBERS, type JournalEntry } from '../../model/journal.ts';
import { RUN_OUTCOME_NUMBERS, RUN_STATE_NUMBERS, type Run } from '../../model/run.ts';
import type { Principal, Scope } from '../../model/scope.ts';
import type { Session } from '../../model/session.ts';
import { type DeadlineKind, TASK_STATE_NUMBERS, type Task } from '../../model/task.ts';
import type { Fingerprint } from '../../model/task-write.ts';
import { TURN_STATE_NUMBERS, type Turn } from '../../model/turn.ts';
import type { KnownMessage } from '../contract.ts';
import type { Memory, MemoryId } from '../memory-contract.ts';

/*
 * Rows to the model's values. Row types name the columns of the shared reads (`task-reads.ts` and its neighbours);
 * numbers are JavaScript numbers on both databases, and an absent value is null.
 */

export const DEADLINE_KIND_NUMBERS = {
  cancel: 1,
  idle: 2,
  total: 3,
  interrupted: 4,
  queued: 5,
} as const satisfies Record<DeadlineKind, number>;

export const IDEMPOTENCY_STATE_NUMBERS = { executing: 0, task: 1, reply: 2 } as const satisfies Record<
  KnownMessage['state'],
  number
>;

export const ARTIFACT_ORIGIN_NUMBERS = { output: 0, input: 1 } as const satisfies Record<
  ArtifactEntry['origin'],
  number
>;

/** The name of a stored number; a number nobody wrote is a bug. */
function namesOf<Name extends string>(numbers: Readonly<Record<Name, number>>): (number: number) => Name {
  const names = new Map(Object.entries<number>(numbers).map(([name, number]) => [number, name as Name]));
  return (number) => {
    const name = names.get(number);
    assert(name !== undefined, `${number} is one of ${Object.keys(numbers).join(', ')}`);
    return name;
  };
}

export const taskStateOf = namesOf(TASK_STATE_NUMBERS);
const deadlineKindOf = namesOf(DEADLINE_KIND_NUMBERS);
const turnStateOf = namesOf(TURN_STATE_NUMBERS);
export const runStateOf = namesOf(RUN_STATE_NUMBERS);
const outcomeOf = namesOf(RUN_OUTCOME_NUMBERS);
const journalKindOf = namesOf(JOURNAL_KIND_NUMBERS);
const journalStateOf = namesOf(JOURNAL_STATE_NUMBERS);
const originOf = namesOf(ARTIFACT_ORIGIN_NUMBERS);
const idempotencyStateOf = namesOf(IDEMPOTENCY_STATE_NUMBERS);

export interface TaskRow {
  readonly no: number;
  readonly id: string;
  readonly agent: string;
  readonly scope: string;
  readonly session_no: number;
  readonly context_id: string;
  readonly thread_id: string;
  readonly state: number;
  readonly state_at: number;
  readonly status_seq: number;
  readonly head_seq: number;
  readonly head_at: number;
  readonly generation: number;
  readonly created_at: number;
  readonly turn_no: number;
  readonly fence: number;
  readonly emit_no: number;
  readonly cancel_at: number | null;
  readonly cancel_by: string | null;
  readonly deadline_at: number | null;
  readonly deadline_kind: number | null;
  readonly total_at: number | null;
  readonly ended_at: number | null;
  readonly trace: string | null;
  readonly metadata: string | null;
}

export function decodeTask(row: TaskRow): Task {
  return {
    no: row.no as TaskNo,
    id: row.id as TaskId,
    agent: row.agent as AgentName,
    scope: row.scope as Scope,
    sessionNo: row.session_no as SessionNo,
    contextId: row.context_id as ContextId,
    threadId: row.thread_id as ThreadId,
    state: taskStateOf(row.state),
    stateAt: instant(row.state_at),
    statusSeq: row.status_seq as Seq,
    headSeq: row.head_seq as Seq,
    headAt: instant(row.head_at),
    generation: row.generation,
    createdAt: instant(row.created_at),
    turnNo: row.turn_no as TurnNo,
    fence: row.fence as Fence,
    emitNo: row.emit_no,
    ...(row.cancel_at === null ? {} : { cancelAt: instant(row.cancel_at) }),
    ...(row.cancel_by === null ? {} : { cancelBy: row.cancel_by }),
    ...(row.deadline_at === null || row.deadline_kind === null
      ? {}
      : { deadline: { kind: deadlineKindOf(row.deadline_kind), at: instant(row.deadline_at) } }),
    ...(row.total_at === null ? {} : { totalAt: instant(row.total_at) }),
    ...(row.ended_at === null ? {} : { endedAt: instant(row.ended_at) }),
    ...(row.trace === null ? {} : { trace: row.trace }),
    ...(row.metadata === null ? {} : { metadata: JSON.parse(row.metadata) as JsonObject }),
  };
}

export interface SessionRow {
  readonly no: number;
  readonly agent: string;
  readonly context_id: string;
  readonly thread_id: string;
  readonly created_at: number;
}

export function decodeSession(row: SessionRow): Session {
  return {
    no: row.no as SessionNo,
    agent: row.agent as AgentName,
    contextId: row.context_id as ContextId,
    threadId: row.thread_id as ThreadId,
    createdAt: instant(row.created_at),
  };
}

export interface TurnRow {
  readonly turn_no: number;
  readonly state: number;
  readonly message_id: string;
  readonly message_seq: number;
  readonly skill: string;
  readonly principal: string;
  readonly agent_version: string;
  readonly attempts: number;
  readonly crashes: number;
}

export function decodeTurn(row: TurnRow): Turn {
  return {
    turnNo: row.turn_no as TurnNo,
    state: turnStateOf(row.state),
    messageId: row.message_id as MessageId,
    messageSeq: row.message_seq as Seq,
    skill: row.skill,
    principal: JSON.parse(row.principal) as Principal,
    agentVersion: row.agent_version,
    attempts: row.attempts,
    crashes: row.crashes,
  };
}

export interface RunRow {
  readonly no: number;
  readonly id: string;
  readonly turn_no: number;
  readonly attempt: number;
  readonly state: number;
  readonly runnable_at: number | null;
  readonly wake_key: string | null;
  readonly worker_no: number | null;
  readonly fence: number | null;
  readonly outcome: number | null;
  readonly reason: string | null;
  readonly started_at: number | null;
  readonly settled_at: number | null;
}

/** The table's constraints promise the columns that each state needs. */
export function decodeRun(row: RunRow): Run {
  const run = {
    no: row.no as RunNo,
    id: row.id as RunId,
    turnNo: row.turn_no as TurnNo,
    attempt: row.attempt,
    ...(row.started_at === null ? {} : { startedAt: instant(row.started_at) }),
  };
  const state = runStateOf(row.state);
  switch (state) {
    case 'held':
      return { ...run, state };
    case 'queued':
      return { ...run, state, runnableAt: instant(row.runnable_at as number) };
    case 'leased':
      return { ...run, state, workerNo: row.worker_no as WorkerNo, fence: row.fence as Fence };
    case 'waiting': {
      const at = row.runnable_at === null ? {} : { at: instant(row.runnable_at) };
      const key = row.wake_key === null ? {} : { key: row.wake_key };
      return { ...run, state, wake: { ...at, ...key } };
    }
    case 'settled': {
      const reason = row.reason === null ? {} : { reason: row.reason };
      const settledAt = instant(row.settled_at as number);
      return { ...run, state, outcome: outcomeOf(row.outcome as number), ...reason, settledAt };
    }
    default:
      return unreachable(state);
  }
}

export interface JournalRow {
  readonly step_key: string;
  readonly kind: number;
  readonly state: number;
  readonly due_at: number | null;
  readonly question: string | null;
  readonly result: string | null;
}

export function decodeJournalEntry(row: JournalRow): JournalEntry {
  return {
    key: row.step_key,
    kind: journalKindOf(row.kind),
    state: journalStateOf(row.state),
    ...(row.due_at === null ? {} : { dueAt: instant(row.due_at) }),
    ...(row.question === null ? {} : { question: JSON.parse(row.question) as JsonObject }),
    ...(row.result === null ? {} : { result: row.result }),
  };
}

export interface ArtifactRow {
  readonly artifact_id: string;
  readonly origin: number;
  readonly turn_no: number;
  readonly run_no: number | null;
  readonly base_seq: number;
  readonly closed_seq: number | null;
  readonly header: string;
}

export function decodeArtifactEntry(row: ArtifactRow): ArtifactEntry {
  return {
    artifactId: row.artifact_id as ArtifactId,
    origin: originOf(row.origin),
    turnNo: row.turn_no as TurnNo,
    ...(row.run_no === null ? {} : { runNo: row.run_no as RunNo }),
    header: JSON.parse(row.header) as ArtifactHeader,
    baseSeq: row.base_seq as Seq,
    ...(row.closed_seq === null ? {} : { closedSeq: row.closed_seq as Seq }),
  };
}

/** The idempotency row, joined with the task that the message went to. */
export interface KnownMessageRow {
  readonly fingerprint: string;
  readonly fingerprint_version: number;
  readonly state: number;
  readonly task_id: string | null;
  readonly task_no: number | null;
  readonly turn_no: number | null;
  readonly message_seq: number | null;
  readonly reply: string | null;
}

export function decodeKnownMessage(row: KnownMessageRow): KnownMessage {
  const fingerprint: Fingerprint = { version: row.fingerprint_version, digest: row.fingerprint };
  const state = idempotencyStateOf(row.state);
  switch (state) {
    case 'executing':
      return { fingerprint, state };
    case 'task':
      return {
        fingerprint,
        state,
        taskId: row.task_id as TaskId,
        taskNo: row.task_no as TaskNo,
        turnNo: row.turn_no as TurnNo,
        messageSeq: row.message_seq as Seq,
      };
    case 'reply':
      return { fingerprint, state, reply: row.reply as string };
    default:
      return unreachable(state);
  }
}

export interface MemoryRow {
  readonly id: string;
  readonly body: string;
  readonly source: string | null;
  readonly metadata: string | null;
  readonly created_at: number;
}

export function decodeMemory(row: MemoryRow): Memory {
  return {
    id: row.id as MemoryId,
    text: row.body,
    ...(row.source === null ? {} : { source: row.source }),
    ...(row.metadata === null ? {} : { metadata: JSON.parse(row.metadata) as JsonObject }),
    createdAt: instant(row.created_at),
  };
}
