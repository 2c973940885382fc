import type { NewEvent } from './event.ts';
import type { RunId, TurnNo } from './ids.ts';
import type { Message } from './message.ts';
import type { RunOutcome } from './run.ts';
import type { TerminalState } from './task.ts';
import type { TaskView } from './task-view.ts';
import type { RunWrite, TaskWrite } from './task-write.ts';

/** A decision that changes the task, and the turn it is about. */
export interface Written {
  readonly kind: 'write';
  readonly write: TaskWrite;
  readonly turnNo: TurnNo;
}

/**
 * Ends a task: its run, its turn and whatever is queued behind it. The terminal status is the last event, there is one,
 * and the fence is taken so that nobody writes after it.
 */
export function endTask(
  view: TaskView,
  end: {
    readonly state: TerminalState;
    readonly outcome: RunOutcome;
    readonly reason?: string;
    readonly message?: Message;
    readonly errorId?: string;
    readonly before?: readonly NewEvent[];
  },
): TaskWrite {
  const settled = settleRun(view, end.outcome, end.reason);
  const dropped = view.queued.map(
    (turn): NewEvent => ({ kind: 'message-dropped', messageId: turn.messageId, turnNo: turn.turnNo }),
  );
  const status: NewEvent = {
    kind: 'status-changed',
    state: end.state,
    ...(end.message === undefined ? {} : { message: end.message }),
    ...(end.errorId === undefined ? {} : { errorId: end.errorId }),
  };
  return {
    events: [...(end.before ?? []), ...settled.events, ...dropped, status],
    runs: settled.runs,
    turns: [
      ...(view.turn.state === 'current' ? [{ kind: 'settle' as const, turnNo: view.turn.turnNo }] : []),
      ...view.queued.map((turn) => ({ kind: 'drop' as const, turnNo: turn.turnNo })),
    ],
    revokeFence: true,
    deadline: 'none',
  };
}

/** The end of the active run, as rows and as an event; nothing where no run is active. */
export function settleRun(
  view: TaskView,
  outcome: RunOutcome,
  reason?: string,
): { readonly events: readonly NewEvent[]; readonly runs: readonly RunWrite[] } {
  const { run } = view;
  if (run === undefined) return { events: [], runs: [] };
  const why = reason === undefined ? {} : { reason };
  return {
    events: [{ kind: 'run-settled', runId: run.id, turnNo: run.turnNo, outcome, ...why }],
    runs: [{ kind: 'settle', runNo: run.no, outcome, ...why }],
  };
}

/** Ends the active run and queues the turn's next attempt. */
export function nextRun(
  view: TaskView,
  next: { readonly outcome: RunOutcome; readonly reason?: string; readonly runId: RunId; readonly delayMs: number },
): { readonly events: readonly NewEvent[]; readonly runs: readonly RunWrite[] } {
  const settled = settleRun(view, next.outcome, next.reason);
  const attempt = (view.run?.attempt ?? view.turn.attempts) + 1;
  return {
    events: settled.events,
    runs: [
      ...settled.runs,
      { kind: 'queue', run: { id: next.runId, turnNo: view.turn.turnNo, attempt, delayMs: next.delayMs } },
    ],
  };
}
