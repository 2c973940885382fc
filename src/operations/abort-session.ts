import { errorCode } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { ContextId, TaskId } from '../model/ids.ts';
import type { TaskPlace } from '../model/page.ts';
import { isTerminal, type Task } from '../model/task.ts';
import type { ScopedStore } from '../store/contract.ts';
import { rowsOf } from './find-task.ts';
import type { Call } from './operations.ts';
import { readSession } from './read-session.ts';
import type { OperationParts, Verb } from './verb.ts';

/**
 * Cancels the session's open tasks and gives the ids of those that are now canceled. A task that ended by itself
 * meanwhile, or whose agent lets nobody cancel it, is left as it is.
 */
export const abortSession: Verb<{ readonly sessionId: ContextId }, readonly TaskId[]> = {
  async run(parts, call, { sessionId }) {
    await readSession.run(parts, call, { sessionId });
    const open = await openTasks(rowsOf(parts, call), sessionId);
    const canceled = await Promise.all(open.map((task) => cancelIfOpen(parts, call, task.id)));
    return open.flatMap((task, index) => (canceled[index] === true ? [task.id] : []));
  },
};

async function openTasks(store: ScopedStore, contextId: ContextId): Promise<readonly Task[]> {
  const open: Task[] = [];
  let after: TaskPlace | undefined;
  for (;;) {
    const page = await store.listTasks({
      contextId,
      pageItems: limits.pageItemsMax,
      ...(after === undefined ? {} : { after }),
    });
    open.push(...page.items.filter((task) => !isTerminal(task.state)));
    const last = page.items.at(-1);
    if (!page.more || last === undefined) return open;
    after = { stateAt: last.stateAt, no: last.no };
  }
}

async function cancelIfOpen(parts: OperationParts, call: Call, taskId: TaskId): Promise<boolean> {
  try {
    await parts.runtime.cancel({ caller: call.caller, agent: call.agent, taskId, signal: call.signal });
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'task_not_cancelable' || code === 'task_not_found') return false;
    throw error;
  }
}
