import type { JsonObject } from '../../base/json.ts';
import type { ContextId, RunId, Seq, TaskId, ThreadId } from '../../model/ids.ts';

/** The ids that are the same on A2A, native API, logs and spans. A task row is one of these. */
export interface CorrelatedTask {
  readonly id: TaskId;
  readonly contextId: ContextId;
  readonly threadId: ThreadId;
  /** W3C trace id of the request that began the task. */
  readonly trace?: string;
}

/** The value under `CORRELATION_KEY`; `runId` and `seq` on updates only. */
export function correlationOf(
  task: CorrelatedTask,
  update: { readonly runId?: RunId; readonly seq?: Seq } = {},
): JsonObject {
  return {
    sessionId: task.contextId,
    taskId: task.id,
    threadId: task.threadId,
    ...(task.trace === undefined ? {} : { traceId: task.trace }),
    ...(update.runId === undefined ? {} : { runId: update.runId }),
    ...(update.seq === undefined ? {} : { seq: update.seq }),
  };
}
