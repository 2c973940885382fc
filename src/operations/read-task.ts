import { fieldError } from '../base/errors.ts';
import type { TaskId } from '../model/ids.ts';
import type { Message } from '../model/message.ts';
import type { Snapshot } from '../store/contract.ts';
import { findSnapshot, wholeTask } from './find-task.ts';
import type { Verb } from './verb.ts';

/** The task with everything it holds; with `historyAfter`, only the messages after that one. */
export const readTask: Verb<
  { readonly id: TaskId; readonly historyLength?: number; readonly historyAfter?: string },
  Snapshot
> = {
  async run(parts, call, { id, historyLength, historyAfter }) {
    if (historyAfter === undefined) return findSnapshot(parts, call, { id, ...wholeTask(historyLength) });
    const { task, content } = await findSnapshot(parts, call, { id, artifacts: true });
    const newer = newerThan(content.history, historyAfter);
    const history = historyLength === undefined ? newer : newer.slice(Math.max(0, newer.length - historyLength));
    return { task, content: { ...content, history } };
  },
};

function newerThan(history: readonly Message[], messageId: string): readonly Message[] {
  const index = history.findIndex((message) => message.messageId === messageId);
  if (index < 0) throw fieldError('historyAfter', 'names no message of this task');
  return history.slice(index + 1);
}
