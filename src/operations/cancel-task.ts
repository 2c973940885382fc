import type { TaskId } from '../model/ids.ts';
import { findShown } from './find-task.ts';
import type { TaskShown } from './operations.ts';
import type { Verb } from './verb.ts';

/** Answers when the task is CANCELED. Calls that came before its end all get the same task. */
export const cancelTask: Verb<{ readonly id: TaskId }, TaskShown> = {
  async run(parts, call, { id }) {
    await parts.runtime.cancel({ caller: call.caller, agent: call.agent, taskId: id, signal: call.signal });
    return await findShown(parts, call, { id, artifacts: true });
  },
};
