import { policyOf } from '../agent/define-agent.ts';
import { CodedError } from '../base/errors.ts';
import type { AgentName, Seq, TaskId, TaskNo } from '../model/ids.ts';
import type { TaskState } from '../model/task.ts';
import { decideCancel, refusal } from '../model/task-decide.ts';
import { untilWritten } from './command-tries.ts';
import { endsTask, followTask } from './feed.ts';
import type { Hub } from './hub.ts';
import { taskFields } from './log-fields.ts';
import type { Engine, Runtime, RuntimeParts } from './ports.ts';
import { goingAway, taskNotFound } from './task-answers.ts';

export interface CancelParts extends RuntimeParts {
  readonly hub: Hub;
  readonly engine: Pick<Engine, 'cancel'>;
}

type CancelRequest = Parameters<Runtime['cancel']>[0];

interface Asked {
  readonly taskNo: TaskNo;
  readonly headSeq: Seq;
  /** Nobody was at work, so it is canceled already. */
  readonly isCanceled: boolean;
}

/**
 * Records that the task shall end and waits until it has: CANCELED, by its worker, or by the sweeper when the worker does
 * not end in time. Asked again before that, it waits as well. A task that ended otherwise meanwhile is not cancelable.
 */
export async function cancelTask(parts: CancelParts, request: CancelRequest): Promise<void> {
  const asked = await ask(parts, request);
  parts.engine.cancel(asked.taskNo);
  if (asked.isCanceled) return;
  for await (const items of followTask(parts, asked.taskNo, { after: asked.headSeq, signal: request.signal })) {
    for (const item of items) {
      if (item.kind === 'going-away') throw goingAway('The cancel is recorded and will be carried out.');
      if (item.kind === 'gone') throw taskNotFound(request.taskId);
      if (item.event.kind === 'status-changed' && endsTask(item.event))
        return checkEnd(request.taskId, item.event.state);
    }
  }
  request.signal.throwIfAborted();
  await checkEnded(parts, request);
}

async function ask(parts: CancelParts, request: CancelRequest): Promise<Asked> {
  const { agent, caller, taskId } = request;
  const scoped = parts.store.scoped(agent.name as AgentName, caller.scope);
  return await untilWritten(async () => {
    const view = await scoped.readTask(taskId);
    if (view === undefined) throw taskNotFound(taskId);
    const { no: taskNo, headSeq } = view.task;
    const decision = decideCancel(view, {
      by: caller.principal.id,
      policy: policyOf(agent, view.turn.skill),
      times: parts.config.times,
    });
    if (decision.kind === 'refused') throw refusal(decision);
    if (decision.kind === 'unchanged') return { taskNo, headSeq, isCanceled: false };
    const result = await scoped.command(taskId, headSeq, decision.write);
    if (result.kind === 'gone') throw taskNotFound(taskId);
    if (result.kind !== 'written') return undefined;
    parts.hub.publish(taskNo, result.events);
    parts.log.info('cancel requested', taskFields(result.task, view.run?.id));
    return { taskNo, headSeq: result.task.headSeq, isCanceled: result.task.state === 'canceled' };
  });
}

function checkEnd(taskId: TaskId, state: TaskState): void {
  if (state === 'canceled') return;
  throw new CodedError('task_not_cancelable', {
    message: `Task ${taskId} is already ${state}.`,
    metadata: { taskId, state },
  });
}

/** The log ended at or before the place that was followed from. */
async function checkEnded(parts: CancelParts, { agent, caller, taskId }: CancelRequest): Promise<void> {
  const view = await parts.store.scoped(agent.name as AgentName, caller.scope).readTask(taskId);
  if (view === undefined) throw taskNotFound(taskId);
  checkEnd(taskId, view.task.state);
}
