import type { Instant } from '../base/clock.ts';
import { instant } from '../base/clock.ts';
import type {
  AgentName,
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
} from '../model/ids.ts';
import type { JournalEntry } from '../model/journal.ts';
import type { Message, Part } from '../model/message.ts';
import { type Question, questionJson } from '../model/question.ts';
import type { Run } from '../model/run.ts';
import type { Scope } from '../model/scope.ts';
import { isTerminal, type Task, type TaskState } from '../model/task.ts';
import type { ContinueRequest } from '../model/task-decide.ts';
import type { AgentPolicy, RunTimes } from '../model/task-policy.ts';
import type { TaskView } from '../model/task-view.ts';
import type { Turn } from '../model/turn.ts';

/** The moment at which the views of this file were read. */
export const VIEW_NOW: Instant = instant(1_767_225_600_000);

export const viewPolicy: AgentPolicy = {
  whenBusy: 'reject',
  cancel: 'any',
  onCrash: 'retry',
  onError: 'fail',
  crashesMax: 5,
};

export const viewTimes: RunTimes = {
  cancelGraceMs: 2_000,
  idleMaxMs: 60_000,
  totalMaxMs: 0,
  interruptedMaxMs: 600_000,
  queuedMaxMs: 30_000,
};

export interface ViewOptions {
  /** How the active run stands; by default as it does in this state. `none`: the turn ended and nobody works. */
  readonly run?: Run['state'] | 'none';
  readonly task?: Partial<Task>;
  readonly turn?: Partial<Turn>;
  readonly open?: readonly JournalEntry[];
  readonly queued?: number;
  readonly wakeAt?: Instant;
}

/** A task as a store would show it in this state: queued when submitted, leased when working, waiting for an answer when interrupted. */
export function taskView(state: TaskState, options: ViewOptions = {}): TaskView {
  const runState = options.run ?? runStateIn(state);
  const queuedCount = options.queued ?? 0;
  const turn: Turn = {
    ...turnOf(1, runState === 'none' ? 'settled' : 'current'),
    attempts: 1,
    ...options.turn,
  };
  return {
    task: taskRow(state, { turnNo: (1 + queuedCount) as TurnNo, ...options.task }),
    turn,
    ...(runState === 'none' ? {} : { run: runOf(runState, options.wakeAt) }),
    open: options.open ?? (runState === 'waiting' && state === 'input-required' ? [askEntry('ask:Ship?')] : []),
    queued: Array.from({ length: queuedCount }, (_, index) => turnOf(2 + index, 'queued')),
  };
}

function runStateIn(state: TaskState): Run['state'] | 'none' {
  if (isTerminal(state)) return 'none';
  if (state === 'submitted') return 'queued';
  return state === 'working' ? 'leased' : 'waiting';
}

function taskRow(state: TaskState, more: Partial<Task>): Task {
  return {
    no: 1 as TaskNo,
    id: 'task-1' as TaskId,
    agent: 'agent-a' as AgentName,
    scope: 'user=a' as Scope,
    sessionNo: 1 as SessionNo,
    contextId: 'context-1' as ContextId,
    threadId: 'thread-1' as ThreadId,
    state,
    stateAt: VIEW_NOW,
    statusSeq: 5 as Seq,
    headSeq: 9 as Seq,
    headAt: VIEW_NOW,
    generation: 2,
    createdAt: VIEW_NOW,
    turnNo: 1 as TurnNo,
    fence: 1 as Fence,
    emitNo: 0,
    ...(isTerminal(state) ? { endedAt: VIEW_NOW } : {}),
    ...more,
  };
}

function turnOf(turnNo: number, state: Turn['state']): Turn {
  return {
    turnNo: turnNo as TurnNo,
    state,
    messageId: `message-${turnNo}` as MessageId,
    messageSeq: 2 as Seq,
    skill: 'default',
    principal: { id: 'issuer|ann' },
    agentVersion: 'v1',
    attempts: 0,
    crashes: 0,
  };
}

function runOf(state: Run['state'], wakeAt: Instant | undefined): Run {
  const run = { no: 7 as RunNo, id: 'run-7' as RunId, turnNo: 1 as TurnNo, attempt: 1 };
  switch (state) {
    case 'queued':
      return { ...run, state, runnableAt: VIEW_NOW };
    case 'leased':
      return { ...run, state, workerNo: 3 as WorkerNo, fence: 1 as Fence };
    case 'waiting':
      return { ...run, state, wake: wakeAt === undefined ? { key: 'ask:Ship?' } : { at: wakeAt } };
    case 'settled':
      return { ...run, state, outcome: 'succeeded', settledAt: VIEW_NOW };
    case 'held':
      return { ...run, state };
  }
}

/** The row of an open question; `more` may give it a schema or a time. */
export function askEntry(
  key: string,
  more: Partial<Question> & { readonly dueAt?: Instant } = {},
): JournalEntry & { readonly kind: 'ask' } {
  const { dueAt, ...question } = more;
  return {
    key,
    kind: 'ask',
    state: 'open',
    question: questionJson({ kind: 'ask', askId: key, text: 'Ship it?', ...question }),
    ...(dueAt === undefined ? {} : { dueAt }),
  };
}

/** The row of an open sign-in. */
export function signInEntry(key: string): JournalEntry {
  return {
    key,
    kind: 'authorize',
    state: 'open',
    question: questionJson({ kind: 'authorize', askId: key, text: 'Sign in.', scheme: 'oauth' }),
  };
}

export function sleepEntry(key: string, dueAt: Instant): JournalEntry {
  return { key, kind: 'sleep', state: 'open', dueAt };
}

export function userText(messageId: string, text: string): Message {
  return userParts(messageId, [{ kind: 'text', text }]);
}

export function userParts(messageId: string, parts: readonly Part[]): Message {
  return { messageId: messageId as MessageId, role: 'user', parts };
}

export function agentText(text: string): Message {
  return { messageId: `agent-${text}` as MessageId, role: 'agent', parts: [{ kind: 'text', text }] };
}

/** A message to this task from its principal, under the policies of this file unless `more` says otherwise. */
export function continueRequest(message: Message, more: Partial<ContinueRequest> = {}): ContinueRequest {
  return {
    message,
    inputs: [],
    principal: { id: 'issuer|ann' },
    agentVersion: 'v2',
    policy: viewPolicy,
    times: viewTimes,
    queuedTurnsMax: 2,
    ids: { runId: 'run-8' as RunId, statusMessageId: 'status-1' as MessageId },
    ...more,
  };
}
