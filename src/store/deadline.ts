import { type Instant, instant } from '../base/clock.ts';
import { isTerminal, type Task } from '../model/task.ts';
import type { NewDeadline, TaskWrite } from '../model/task-write.ts';

/** The two deadline columns of the task row: the nearest deadline, and the `total` one that is kept beside it. */
export type Deadlines = Pick<Task, 'deadline' | 'totalAt'>;

/** The deadline columns of a new task. */
export function firstDeadlines(request: {
  readonly now: Instant;
  readonly deadline: NewDeadline | undefined;
  readonly totalMs?: number;
}): Deadlines {
  const totalAt = request.totalMs === undefined ? undefined : instant(request.now + request.totalMs);
  return nearest(totalAt, placed(request.deadline, request.now));
}

/** The deadline columns after a command or a settlement: an ended task waits for nothing. `task` is the row after the write's events. */
export function deadlinesAfterWrite(task: Task, wanted: TaskWrite['deadline'], now: Instant): Deadlines {
  if (isTerminal(task.state)) return {};
  if (wanted === undefined || wanted === 'keep') return nearest(task.totalAt, task.deadline);
  return nearest(task.totalAt, wanted === 'none' ? undefined : placed(wanted, now));
}

/**
 * The deadline columns after a sign of life. It never puts off the end of a task whose cancel was asked for,
 * and a batch without a deadline leaves what is there.
 */
export function deadlinesAfterAppend(task: Task, wanted: NewDeadline | undefined, now: Instant): Deadlines {
  if (wanted === undefined || task.deadline?.kind === 'cancel') return nearest(task.totalAt, task.deadline);
  return nearest(task.totalAt, placed(wanted, now));
}

/** The deadline columns after a claim: the run is no longer queued, so what limited its wait goes. */
export function deadlinesAfterClaim(task: Task, wanted: NewDeadline | undefined, now: Instant): Deadlines {
  if (task.deadline?.kind === 'cancel') return nearest(task.totalAt, task.deadline);
  return nearest(task.totalAt, placed(wanted, now));
}

function placed(wanted: NewDeadline | undefined, now: Instant): Task['deadline'] {
  return wanted === undefined ? undefined : { kind: wanted.kind, at: instant(now + wanted.inMs) };
}

function nearest(totalAt: Instant | undefined, wanted: Task['deadline']): Deadlines {
  if (totalAt === undefined) return wanted === undefined ? {} : { deadline: wanted };
  const isTotalNearer = wanted === undefined || totalAt < wanted.at;
  return { totalAt, deadline: isTotalNearer ? { kind: 'total', at: totalAt } : wanted };
}
