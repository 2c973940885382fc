import { CodedError, type ErrorCode, type ErrorDetail } from '../base/errors.ts';
import { checkAnswer } from './answer.ts';
import type { NewEvent } from './event.ts';
import type { MessageId, RunId, TurnNo } from './ids.ts';
import type { JournalEntry } from './journal.ts';
import type { Message } from './message.ts';
import { questionOf } from './question.ts';
import type { Principal } from './scope.ts';
import { isInterrupted, isTerminal } from './task.ts';
import { endTask, nextRun, type Written } from './task-ending.ts';
import type { AgentPolicy, RunTimes } from './task-policy.ts';
import type { TaskView } from './task-view.ts';
import type { NewDeadline, NewTurn, TaskWrite } from './task-write.ts';

/**
 * Decides what a command does to a task: what to write, that nothing changes, or why not. Sync and pure; ids come in
 * with the request, time as a value. The table:
 *
 *   state                       send                      cancel          expires
 *   submitted                   refused, or queued        canceled        failed: nobody took it
 *   working                     refused, or queued        by policy       failed: timed out, or canceled
 *   input-/auth-required        answers or new turn       by policy       failed: nobody answered
 *   terminal                    refused                   refused         –
 */
export type Decision =
  | Written
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly detail: ErrorDetail };

export interface ContinueRequest {
  readonly message: Message;
  /** Events of the message's raw parts, as input artifacts. */
  readonly inputs: readonly NewEvent[];
  readonly principal: Principal;
  readonly agentVersion: string;
  readonly policy: AgentPolicy;
  readonly times: RunTimes;
  readonly queuedTurnsMax: number;
  readonly ids: { readonly runId: RunId; readonly statusMessageId: MessageId };
  readonly input?: Uint8Array;
}

/** A message with this task's id. */
export function decideContinue(view: TaskView, request: ContinueRequest): Decision {
  const { task } = view;
  if (isTerminal(task.state)) {
    return refused('unsupported_operation', {
      message: `Task ${task.id} is ${task.state} and takes no more messages. Start a new task with the same contextId.`,
      metadata: { taskId: task.id, state: task.state },
    });
  }
  if (!isInterrupted(task.state)) return enqueue(view, request);
  const open = openQuestion(view, request.message);
  if (open === 'unknown') {
    const index = request.message.parts.findIndex((part) => part.kind === 'data');
    return refusedField(`message.parts[${index}].data.askId`, 'names no question that is open on this task');
  }
  return open === undefined ? beginTurn(view, request) : answer(view, open, request);
}

function enqueue(view: TaskView, request: ContinueRequest): Decision {
  const { task } = view;
  if (request.policy.whenBusy !== 'queue') {
    return refused('unsupported_operation', {
      message: `Task ${task.id} is ${task.state} and this agent takes one message at a time. Send again when it asks for input, or start a new task with the same contextId.`,
      metadata: { taskId: task.id, state: task.state },
    });
  }
  if (view.queued.length >= request.queuedTurnsMax) {
    return refused('overloaded', {
      message: `Task ${task.id} already has ${request.queuedTurnsMax} messages waiting. Wait until one has been worked on.`,
      metadata: { taskId: task.id },
      retryAfterSeconds: 5,
    });
  }
  const turn = newTurn(view, request);
  return written(
    { events: [received(request, turn.turnNo), ...request.inputs], turns: [{ kind: 'enqueue', turn }] },
    turn.turnNo,
  );
}

/** The handler ended its turn interrupted, so this message begins another. */
function beginTurn(view: TaskView, request: ContinueRequest): Decision {
  const turn = newTurn(view, request);
  const run = { id: request.ids.runId, turnNo: turn.turnNo, attempt: 1, delayMs: 0 };
  return written(
    {
      events: [received(request, turn.turnNo), ...request.inputs, { kind: 'status-changed', state: 'working' }],
      turns: [{ kind: 'begin', turn }],
      runs: [{ kind: 'queue', run }],
      deadline: queuedDeadline(request.times),
    },
    turn.turnNo,
  );
}

function answer(view: TaskView, entry: JournalEntry, request: ContinueRequest): Decision {
  const check = checkAnswer(questionOf(entry), request.message, entry);
  const { turnNo } = view.turn;
  if (check.kind === 'refused')
    return {
      kind: 'refused',
      code: 'invalid_argument',
      detail: {
        message: check.violations.map((v) => `${v.field} ${v.description}`).join('; '),
        violations: check.violations,
      },
    };
  if (check.kind === 'unfit') {
    const again: Message = {
      messageId: request.ids.statusMessageId,
      role: 'agent',
      parts: [{ kind: 'text', text: check.reason }, ...check.questionParts],
    };
    return written(
      {
        events: [
          received(request, turnNo),
          ...request.inputs,
          { kind: 'status-changed', state: view.task.state, message: again },
        ],
      },
      turnNo,
    );
  }
  const how = check.kind === 'declined' ? 'declined' : 'answered';
  const next = nextRun(view, { outcome: 'parked', runId: request.ids.runId, delayMs: 0 });
  return written(
    {
      events: [
        received(request, turnNo),
        ...request.inputs,
        { kind: 'question-answered', askId: entry.key, how },
        ...next.events,
        { kind: 'status-changed', state: 'working' },
      ],
      journal: [
        {
          turnNo,
          key: entry.key,
          kind: entry.kind,
          state: how === 'declined' ? 'declined' : 'done',
          ...(entry.question === undefined ? {} : { question: entry.question }),
          ...(check.kind === 'accepted' ? { result: JSON.stringify(check.value) } : {}),
        },
      ],
      runs: next.runs,
      deadline: queuedDeadline(request.times),
    },
    turnNo,
  );
}

/** The question that a message answers: the one it names, else the oldest that is open. */
function openQuestion(view: TaskView, message: Message): JournalEntry | undefined | 'unknown' {
  if (view.run?.state !== 'waiting') return undefined;
  const questions = view.open.filter((entry) => entry.kind === 'ask' || entry.kind === 'authorize');
  const data = message.parts.find((part) => part.kind === 'data');
  const named =
    data?.kind === 'data' && typeof data.data === 'object' && data.data !== null && 'askId' in data.data
      ? data.data.askId
      : undefined;
  if (named === undefined) return questions[0];
  return questions.find((entry) => entry.key === named) ?? 'unknown';
}

/** Asks a task to end. With nobody at work it is canceled at once; otherwise its worker is told, and a deadline makes sure. */
export function decideCancel(
  view: TaskView,
  request: { readonly by: string; readonly policy: AgentPolicy; readonly times: RunTimes },
): Decision {
  const { task, run } = view;
  if (isTerminal(task.state)) return notCancelable(view, `is already ${task.state}`);
  if (request.policy.cancel === 'submitted-only' && task.state !== 'submitted') {
    return notCancelable(view, `is ${task.state}, and this agent can be canceled only before it starts`);
  }
  if (task.cancelAt !== undefined) return { kind: 'unchanged' };
  const asked: NewEvent = { kind: 'cancel-requested', by: request.by };
  if (run?.state !== 'leased') {
    const end = endTask(view, { state: 'canceled', outcome: 'canceled' });
    return written({ ...end, events: [asked, ...end.events] }, view.turn.turnNo);
  }
  return written(
    { events: [asked], deadline: { kind: 'cancel', inMs: request.times.cancelGraceMs } },
    view.turn.turnNo,
  );
}

/** A sign-in that was cleared without a message (native `/resume`): the parked turn goes on, or, where the handler ended its turn, the next begins. */
export function decideResume(view: TaskView, request: ContinueRequest): Decision {
  if (view.task.state !== 'auth-required') {
    return refused('unsupported_operation', {
      message: `Task ${view.task.id} is ${view.task.state}; only a task in auth-required can be resumed.`,
      metadata: { taskId: view.task.id, state: view.task.state },
    });
  }
  const entry =
    view.run?.state === 'waiting' ? view.open.find((candidate) => candidate.kind === 'authorize') : undefined;
  return entry === undefined ? beginTurn(view, request) : resumed(view, entry, request);
}

function resumed(view: TaskView, entry: JournalEntry, request: ContinueRequest): Decision {
  const { turnNo } = view.turn;
  const next = nextRun(view, { outcome: 'parked', runId: request.ids.runId, delayMs: 0 });
  return written(
    {
      events: [
        { kind: 'question-answered', askId: entry.key, how: 'answered' },
        ...next.events,
        { kind: 'status-changed', state: 'working' },
      ],
      journal: [
        {
          turnNo,
          key: entry.key,
          kind: entry.kind,
          state: 'done',
          result: 'null',
          ...(entry.question === undefined ? {} : { question: entry.question }),
        },
      ],
      runs: next.runs,
      deadline: queuedDeadline(request.times),
    },
    turnNo,
  );
}

function newTurn(view: TaskView, request: ContinueRequest): NewTurn {
  return {
    turnNo: (view.task.turnNo + 1) as TurnNo,
    messageId: request.message.messageId,
    messageOrdinal: 1,
    skill: view.turn.skill,
    principal: request.principal,
    agentVersion: request.agentVersion,
    ...(request.input === undefined ? {} : { input: request.input }),
  };
}

function received(request: ContinueRequest, turnNo: TurnNo): NewEvent {
  return { kind: 'message-received', message: request.message, turnNo };
}

/** How long a run may wait for a worker. */
export function queuedDeadline(times: RunTimes): NewDeadline | 'none' {
  return times.queuedMaxMs > 0 ? { kind: 'queued', inMs: times.queuedMaxMs } : 'none';
}

function notCancelable(view: TaskView, why: string): Decision {
  return refused('task_not_cancelable', {
    message: `Task ${view.task.id} ${why}.`,
    metadata: { taskId: view.task.id, state: view.task.state },
  });
}

function written(write: TaskWrite, turnNo: TurnNo): Written {
  return { kind: 'write', write, turnNo };
}

function refused(code: ErrorCode, detail: ErrorDetail): Decision {
  return { kind: 'refused', code, detail };
}

function refusedField(field: string, description: string): Decision {
  return refused('invalid_argument', { message: `${field}: ${description}`, violations: [{ field, description }] });
}

/** The error a refusal becomes at a door. */
export function refusal(decision: Extract<Decision, { kind: 'refused' }>): CodedError {
  return new CodedError(decision.code, decision.detail);
}
