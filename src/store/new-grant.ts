import type { StoredEvent } from '../model/event.ts';
import type { RunNo, WorkerNo } from '../model/ids.ts';
import type { Task } from '../model/task.ts';
import type { NewRun } from '../model/task-write.ts';
import type { Turn } from '../model/turn.ts';
import type { Grant } from './contract.ts';

/** The grant of a run, from the task row as the grant left it. */
export function newGrant(
  task: Task,
  lease: { readonly run: Pick<NewRun, 'id' | 'attempt'>; readonly workerNo: WorkerNo },
  rows: { readonly runNo: RunNo; readonly turn: Turn; readonly events: readonly StoredEvent[] },
): Grant {
  return {
    taskNo: task.no,
    taskId: task.id,
    agent: task.agent,
    scope: task.scope,
    sessionNo: task.sessionNo,
    contextId: task.contextId,
    threadId: task.threadId,
    runNo: rows.runNo,
    runId: lease.run.id,
    turn: rows.turn,
    attempt: lease.run.attempt,
    workerNo: lease.workerNo,
    fence: task.fence,
    headSeq: task.headSeq,
    ...(task.trace === undefined ? {} : { trace: task.trace }),
    events: rows.events,
  };
}
