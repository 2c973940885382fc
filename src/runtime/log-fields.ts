import type { LogFields } from '../base/log.ts';
import type { Task } from '../model/task.ts';
import type { Grant } from '../store/contract.ts';

/** The ids by which a log line is joined to events, spans and what clients see. */
export function taskFields(
  task: Pick<Task, 'id' | 'contextId' | 'threadId' | 'trace'>,
  runId?: string | undefined,
): LogFields {
  return {
    sessionId: task.contextId,
    taskId: task.id,
    ...(runId === undefined ? {} : { runId }),
    threadId: task.threadId,
    ...(task.trace === undefined ? {} : { traceId: task.trace }),
  };
}

export function grantFields(grant: Grant): LogFields {
  return taskFields({ ...grant, id: grant.taskId }, grant.runId);
}
