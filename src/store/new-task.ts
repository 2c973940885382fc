import type { Instant } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { Fence, Seq, TaskId, TaskNo, TurnNo } from '../model/ids.ts';
import type { Scope } from '../model/scope.ts';
import type { Session } from '../model/session.ts';
import type { Task } from '../model/task.ts';
import type { Deadlines } from './deadline.ts';

/** A task row before its first event: what the fold of its log begins with. */
export function newTask(request: {
  readonly no: TaskNo;
  readonly id: TaskId;
  readonly scope: Scope;
  readonly session: Session;
  readonly at: Instant;
  readonly deadlines: Deadlines;
  readonly trace?: string;
  readonly metadata?: JsonObject;
}): Task {
  const { session, at } = request;
  return {
    no: request.no,
    id: request.id,
    agent: session.agent,
    scope: request.scope,
    sessionNo: session.no,
    contextId: session.contextId,
    threadId: session.threadId,
    state: 'submitted',
    stateAt: at,
    statusSeq: 0 as Seq,
    headSeq: 0 as Seq,
    headAt: at,
    generation: 0,
    createdAt: at,
    turnNo: 0 as TurnNo,
    fence: 0 as Fence,
    emitNo: 0,
    ...request.deadlines,
    ...(request.trace === undefined ? {} : { trace: request.trace }),
    ...(request.metadata === undefined ? {} : { metadata: request.metadata }),
  };
}
