import { assert, unreachable } from '../base/assert.ts';
import type { Instant } from '../base/clock.ts';
import type { NewEvent } from './event.ts';
import type { RunId } from './ids.ts';
import type { JournalEntry } from './journal.ts';
import type { Message } from './message.ts';
import type { RunOutcome, Wake } from './run.ts';
import { type InterruptedState, isInterrupted, isTerminal, type TerminalState } from './task.ts';
import { queuedDeadline } from './task-decide.ts';
import { endTask, nextRun, settleRun } from './task-ending.ts';
import { type AgentPolicy, crashBackoffMs, type RunTimes } from './task-policy.ts';
import type { TaskView } from './task-view.ts';
import type { JournalWrite, NewDeadline, TaskWrite, TurnWrite } from './task-write.ts';

/** How a handler's run ended, as its executor saw it. */
export type Ending =
  /** `message`: the handler returned `completed(…)`. */
  | { readonly kind: 'succeeded'; readonly message?: Message }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly message: Message;
      readonly errorId?: string;
      readonly retry: boolean;
    }
  | { readonly kind: 'rejected'; readonly message: Message }
  /** The handler returned `inputRequired(…)` or `authRequired(…)`: the turn is over, the next message begins another. */
  | { readonly kind: 'interrupted'; readonly state: InterruptedState; readonly message: Message }
  | Parked
  /** The signal fired for a drain; the run goes to another worker, free of charge. */
  | { readonly kind: 'handed-back' };

/** The handler waits for a question, a sign-in or a time; its open suspensions go into the journal. */
export interface Parked {
  readonly kind: 'parked';
  readonly suspensions: readonly JournalWrite[];
  readonly events: readonly NewEvent[];
  readonly wake: Wake;
  /** Present when the caller is asked for something; a sleep alone leaves the task working. */
  readonly status?: { readonly state: InterruptedState; readonly message: Message };
}

export interface RunFacts {
  readonly policy: AgentPolicy;
  readonly times: RunTimes;
  readonly runId: RunId;
}

/** What the end of a run does to its task. After a cancel request the only end is canceled, whatever the handler did. */
export function decideSettle(view: TaskView, ending: Ending, facts: RunFacts): TaskWrite {
  assert(!isTerminal(view.task.state), 'a terminal task has no run to settle');
  if (view.task.cancelAt !== undefined)
    return endTask(view, { state: 'canceled', outcome: outcomeUnderCancel(ending) });
  switch (ending.kind) {
    case 'succeeded':
      return view.queued.length > 0 ? nextTurn(view, ending, facts) : complete(view, ending);
    case 'failed':
      return fail(view, ending, facts);
    case 'rejected':
      return endTask(view, { state: 'rejected', outcome: 'rejected', message: ending.message });
    case 'interrupted':
      return interrupt(view, ending, facts);
    case 'parked':
      return park(view, ending, facts);
    case 'handed-back':
      return requeue(view, { outcome: 'handed-back', delayMs: 0 }, facts);
    default:
      return unreachable(ending);
  }
}

function outcomeUnderCancel(ending: Ending): RunOutcome {
  return ending.kind === 'succeeded' || ending.kind === 'failed' || ending.kind === 'rejected'
    ? ending.kind
    : 'canceled';
}

type Succeeded = Extract<Ending, { kind: 'succeeded' }>;

function complete(view: TaskView, { message }: Succeeded): TaskWrite {
  return endTask(view, {
    state: 'completed',
    outcome: 'succeeded',
    ...(message === undefined ? {} : { message }),
  });
}

/**
 * The turn is over and another message waits: the next turn begins in the same transaction, the task goes on working.
 * A last word of the turn that is over is said on the way.
 */
function nextTurn(view: TaskView, { message }: Succeeded, facts: RunFacts): TaskWrite {
  const next = view.queued[0];
  assert(next !== undefined, 'a turn is queued');
  const settled = settleRun(view, 'succeeded');
  const said: readonly NewEvent[] =
    message === undefined ? [] : [{ kind: 'status-changed', state: 'working', message }];
  return {
    events: [...settled.events, ...said],
    runs: [...settled.runs, { kind: 'queue', run: { id: facts.runId, turnNo: next.turnNo, attempt: 1, delayMs: 0 } }],
    turns: [
      { kind: 'settle', turnNo: view.turn.turnNo },
      { kind: 'activate', turnNo: next.turnNo },
    ],
    revokeFence: true,
    deadline: queuedDeadline(facts.times),
  };
}

/**
 * An error of the handler, where the agent says `onError: 'retry'`, runs the turn again while it has had few runs. It is
 * no crash: only a lost worker charges one, and two of those would make the turn run alone.
 */
function fail(view: TaskView, ending: Extract<Ending, { kind: 'failed' }>, facts: RunFacts): TaskWrite {
  const { attempts } = view.turn;
  if (ending.retry && attempts <= facts.policy.crashesMax) {
    return requeue(view, { outcome: 'failed', reason: ending.reason, delayMs: crashBackoffMs(attempts) }, facts);
  }
  return endTask(view, {
    state: 'failed',
    outcome: 'failed',
    reason: ending.reason,
    message: ending.message,
    ...(ending.errorId === undefined ? {} : { errorId: ending.errorId }),
  });
}

function interrupt(view: TaskView, ending: Extract<Ending, { kind: 'interrupted' }>, facts: RunFacts): TaskWrite {
  const settled = settleRun(view, 'interrupted');
  return {
    events: [...settled.events, { kind: 'status-changed', state: ending.state, message: ending.message }],
    runs: settled.runs,
    turns: [{ kind: 'settle', turnNo: view.turn.turnNo }],
    revokeFence: true,
    deadline: interruptedDeadline(facts.times),
  };
}

function park(view: TaskView, ending: Parked, facts: RunFacts): TaskWrite {
  assert(view.run?.state === 'leased', 'only a leased run parks');
  const status: readonly NewEvent[] = ending.status === undefined ? [] : [{ kind: 'status-changed', ...ending.status }];
  return {
    events: [...ending.events, ...status],
    journal: ending.suspensions,
    runs: [
      {
        kind: 'park',
        runNo: view.run.no,
        ...(ending.wake.at === undefined ? {} : { wakeAt: ending.wake.at }),
        ...(ending.wake.key === undefined ? {} : { wakeKey: ending.wake.key }),
      },
    ],
    revokeFence: true,
    deadline: ending.status === undefined ? 'none' : interruptedDeadline(facts.times),
  };
}

function requeue(
  view: TaskView,
  how: { readonly outcome: RunOutcome; readonly reason?: string; readonly delayMs: number; readonly charge?: boolean },
  facts: RunFacts,
): TaskWrite {
  const next = nextRun(view, {
    outcome: how.outcome,
    ...(how.reason === undefined ? {} : { reason: how.reason }),
    runId: facts.runId,
    delayMs: how.delayMs,
  });
  const turns: readonly TurnWrite[] = how.charge === true ? [{ kind: 'charge-crash', turnNo: view.turn.turnNo }] : [];
  return { events: next.events, runs: next.runs, turns, revokeFence: true, deadline: queuedDeadline(facts.times) };
}

/** The worker of a live task's run was lost, or the task has no run at all. Only this charges a crash. */
export function decideLost(
  view: TaskView,
  facts: RunFacts & { readonly message: (text: string) => Message },
): TaskWrite | undefined {
  if (isTerminal(view.task.state) || (isInterrupted(view.task.state) && view.run?.state !== 'leased')) return undefined;
  if (view.run !== undefined && view.run.state !== 'leased') return undefined;
  if (view.task.cancelAt !== undefined) return endTask(view, { state: 'canceled', outcome: 'lost' });
  const crashes = view.turn.crashes + 1;
  if (facts.policy.onCrash === 'fail') {
    return endTask(view, lostEnd('The worker of this task was lost, and the agent does not run twice.', facts));
  }
  if (crashes > facts.policy.crashesMax) {
    return endTask(view, lostEnd(`The worker of this task was lost ${crashes} times.`, facts));
  }
  return requeue(view, { outcome: 'lost', delayMs: crashBackoffMs(crashes), charge: true }, facts);
}

function lostEnd(
  text: string,
  facts: { readonly message: (text: string) => Message },
): { state: TerminalState; outcome: RunOutcome; reason: string; message: Message } {
  return { state: 'failed', outcome: 'lost', reason: text, message: facts.message(text) };
}

/** A deadline has passed. Undefined when it was moved meanwhile. */
export function decideDeadline(
  view: TaskView,
  request: { readonly now: Instant; readonly message: (text: string) => Message },
): TaskWrite | undefined {
  const { deadline, cancelAt } = view.task;
  if (deadline === undefined || deadline.at > request.now || isTerminal(view.task.state)) return undefined;
  if (deadline.kind === 'cancel' || cancelAt !== undefined)
    return endTask(view, { state: 'canceled', outcome: 'canceled' });
  const text = DEADLINE_TEXTS[deadline.kind];
  return endTask(view, { state: 'failed', outcome: 'timed-out', reason: text, message: request.message(text) });
}

const DEADLINE_TEXTS = {
  idle: 'The task timed out: its agent gave no sign of life for too long.',
  total: 'The task timed out: it took longer than this server allows.',
  interrupted: 'The task timed out: nobody answered it.',
  queued: 'The task timed out: no worker could take it.',
} as const;

/** A waiting run's time has come: what is due in the journal is settled, and the turn's next run is queued. Undefined when nothing is due any more. */
export function decideTimer(
  view: TaskView,
  request: { readonly now: Instant; readonly runId: RunId; readonly times: RunTimes },
): TaskWrite | undefined {
  const { run } = view;
  if (run?.state !== 'waiting' || run.wake.at === undefined || run.wake.at > request.now) return undefined;
  const due = view.open.filter((entry) => entry.dueAt !== undefined && entry.dueAt <= request.now);
  const next = nextRun(view, { outcome: 'parked', runId: request.runId, delayMs: 0 });
  return {
    events: [
      ...due.map(dueEvent),
      ...next.events,
      ...(isInterrupted(view.task.state) ? [{ kind: 'status-changed' as const, state: 'working' as const }] : []),
    ],
    journal: due.map((entry) => settledEntry(view, entry)),
    runs: next.runs,
    deadline: queuedDeadline(request.times),
  };
}

function dueEvent(entry: JournalEntry): NewEvent {
  return entry.kind === 'sleep'
    ? { kind: 'timer-fired', key: entry.key }
    : { kind: 'question-answered', askId: entry.key, how: 'expired' };
}

function settledEntry(view: TaskView, entry: JournalEntry): JournalWrite {
  return {
    turnNo: view.turn.turnNo,
    key: entry.key,
    kind: entry.kind,
    state: entry.kind === 'sleep' ? 'done' : 'expired',
    ...(entry.question === undefined ? {} : { question: entry.question }),
    ...(entry.dueAt === undefined ? {} : { dueAt: entry.dueAt }),
  };
}

function interruptedDeadline(times: RunTimes): NewDeadline | 'none' {
  return times.interruptedMaxMs > 0 ? { kind: 'interrupted', inMs: times.interruptedMaxMs } : 'none';
}
