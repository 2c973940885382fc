import type { JournalEntry } from './journal.ts';
import type { Run } from './run.ts';
import type { Task } from './task.ts';
import type { Turn } from './turn.ts';

/** All that a command is decided on. */
export interface TaskView {
  readonly task: Task;
  /** The current turn, or the last settled one. */
  readonly turn: Turn;
  /** The run that is held, queued, leased or waiting. */
  readonly run?: Run;
  /** Suspensions of the current turn that are still open, oldest first; a step that has begun is none. */
  readonly open: readonly JournalEntry[];
  /** Oldest first. */
  readonly queued: readonly Turn[];
}
