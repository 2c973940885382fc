import { CodedError } from '../base/errors.ts';
import type { TaskId } from '../model/ids.ts';
import { isTerminal } from '../model/task.ts';
import { findShown } from './find-task.ts';
import type { TaskStream } from './operations.ts';
import { endsAtTerminalOnly, followTask } from './task-stream.ts';
import type { Verb } from './verb.ts';

/**
 * The task as it stands, then what follows until it ends. Whether it has ended is judged on that very snapshot, so
 * no end falls between the look and the stream.
 */
export const subscribeToTask: Verb<{ readonly id: TaskId }, TaskStream> = {
  async run(parts, call, { id }) {
    const first = await findShown(parts, call, { id, artifacts: true });
    const { task } = first;
    if (isTerminal(task.state)) {
      throw new CodedError('unsupported_operation', {
        message: `Task ${id} is ${task.state}, so nothing follows. Read it with GetTask.`,
        metadata: { taskId: id, state: task.state },
      });
    }
    const place = { task, after: task.headSeq, startsFresh: task.state === 'submitted', endsAt: endsAtTerminalOnly };
    return { kind: 'task', first, items: followTask(parts, call, place) };
  },
};
