import type { TaskId } from '../model/ids.ts';
import { findShown } from './find-task.ts';
import type { TaskShown } from './operations.ts';
import type { Verb } from './verb.ts';

/** Clears AUTH_REQUIRED: whoever signed in somewhere else lets the task go on without a message. */
export const resumeTask: Verb<{ readonly id: TaskId }, TaskShown> = {
  async run(parts, call, { id }) {
    await parts.runtime.resume({ caller: call.caller, agent: call.agent, taskId: id });
    return await findShown(parts, call, { id, artifacts: true });
  },
};
