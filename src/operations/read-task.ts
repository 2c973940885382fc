import { fieldError } from '../base/errors.ts';
import type { TaskId } from '../model/ids.ts';
import type { Message } from '../model/message.ts';
import type { TaskContent } from '../model/task-fold.ts';
import { findShown, wholeTask } from './find-task.ts';
import type { TaskShown } from './operations.ts';
import type { Verb } from './verb.ts';

/** The task with everything it holds; with `historyAfter`, only the messages after that one. */
export const readTask: Verb<
  { readonly id: TaskId; readonly historyLength?: number; readonly historyAfter?: string },
  TaskShown
> = {
  async run(parts, call, { id, historyLength, historyAfter }) {
    if (historyAfter === undefined) return findShown(parts, call, { id, ...wholeTask(historyLength) });
    const shown = await findShown(parts, call, { id, artifacts: true });
    const cut = (content: TaskContent): TaskContent => {
      const newer = newerThan(content.history, historyAfter);
      const history = historyLength === undefined ? newer : newer.slice(Math.max(0, newer.length - historyLength));
      return { ...content, history };
    };
    if ('content' in shown) return { task: shown.task, content: cut(shown.content) };
    const { task, large } = shown;
    // A name that stands in no message is refused now, not in the middle of the answer.
    cut(await large.read());
    const key = `${large.key} ${historyLength ?? 'all'} after ${historyAfter}`;
    return { task, large: { ...large, key, read: async () => cut(await large.read()) } };
  },
};

function newerThan(history: readonly Message[], messageId: string): readonly Message[] {
  const index = history.findIndex((message) => message.messageId === messageId);
  if (index < 0) throw fieldError('historyAfter', 'names no message of this task');
  return history.slice(index + 1);
}
