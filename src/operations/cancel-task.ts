import type { TaskId } from '../model/ids.ts';
import type { Snapshot } from '../store/contract.ts';
import { findSnapshot } from './find-task.ts';
import type { Verb } from './verb.ts';

/** Answers when the task is CANCELED. Calls that came before its end all get the same task. */
export const cancelTask: Verb<{ readonly id: TaskId }, Snapshot> = {
  async run(parts, call, { id }) {
    await parts.runtime.cancel({ caller: call.caller, agent: call.agent, taskId: id, signal: call.signal });
    return await findSnapshot(parts, call, { id, artifacts: true });
  },
};
