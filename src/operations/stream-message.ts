import { isTerminal, type TaskState } from '../model/task.ts';
import { checkMessage } from './check-message.ts';
import { findShown, wholeTask } from './find-task.ts';
import type { SendParams, TaskStream } from './operations.ts';
import { sendRequest } from './send-message.ts';
import { followTask, noItems } from './task-stream.ts';
import type { Verb } from './verb.ts';

/**
 * Takes a message and follows its task from right after. A repeat joins: it gets the task as it now stands, and what
 * follows. Ends at a terminal status, and at INPUT_REQUIRED unless configured otherwise; AUTH_REQUIRED ends none, since
 * it may clear without the client.
 */
export const streamMessage: Verb<SendParams, TaskStream> = {
  validate: checkMessage,
  async run(parts, call, params) {
    const submitted = await parts.runtime.submit(sendRequest(call, params));
    if (submitted.kind === 'reply') return { kind: 'message', message: submitted.message };
    const first =
      submitted.first === undefined
        ? await findShown(parts, call, { id: submitted.task.id, ...wholeTask(params.historyLength) })
        : parts.largeTasks.show(submitted.first, { id: submitted.task.id, artifacts: true });
    const { task } = first;
    const endsAt = (state: TaskState): boolean => parts.streamEndsAtInputRequired && state === 'input-required';
    const isOver = isTerminal(task.state) || endsAt(task.state);
    const startsFresh = submitted.first !== undefined && task.state === 'submitted';
    const items = isOver ? noItems() : followTask(parts, call, { task, after: task.headSeq, startsFresh, endsAt });
    return { kind: 'task', first, items };
  },
};
