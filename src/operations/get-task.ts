import type { TaskId } from '../model/ids.ts';
import { findShown, wholeTask } from './find-task.ts';
import type { TaskShown } from './operations.ts';
import type { Verb } from './verb.ts';

/** The task as it stands, with all of its artifacts and, unless limited, all of its history. */
export const getTask: Verb<{ readonly id: TaskId; readonly historyLength?: number }, TaskShown> = {
  run: (parts, call, { id, historyLength }) => findShown(parts, call, { id, ...wholeTask(historyLength) }),
};
