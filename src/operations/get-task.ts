import type { TaskId } from '../model/ids.ts';
import type { Snapshot } from '../store/contract.ts';
import { findSnapshot, wholeTask } from './find-task.ts';
import type { Verb } from './verb.ts';

/** The task as it stands, with all of its artifacts and, unless limited, all of its history. */
export const getTask: Verb<{ readonly id: TaskId; readonly historyLength?: number }, Snapshot> = {
  run: (parts, call, { id, historyLength }) => findSnapshot(parts, call, { id, ...wholeTask(historyLength) }),
};
