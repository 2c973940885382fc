import { policyOf } from '../agent/define-agent.ts';
import { assert } from '../base/assert.ts';
import type { NewEvent, StoredEvent } from '../model/event.ts';
import type { AgentName, ContextId, RunId, TaskId, ThreadId, TurnNo } from '../model/ids.ts';
import type { Message } from '../model/message.ts';
import { queuedDeadline } from '../model/task-decide.ts';
import { emptyContent, foldContent, foldTask } from '../model/task-fold.ts';
import type { Fingerprint } from '../model/task-write.ts';
import type { Snapshot, SubmitRequest, SubmitResult, TurnMaterial } from '../store/contract.ts';
import { stageParts } from './blob-staging.ts';
import { inputArtifacts } from './input-artifacts.ts';
import { type GrantParts, placeRun } from './local-grant.ts';
import { taskFields } from './log-fields.ts';
import type { RuntimeParts, SendRequest, Submitted } from './ports.ts';
import { sealContent, withholdContent } from './thin-message.ts';

const FIRST_TURN = 1 as TurnNo;

export type NewTaskParts = RuntimeParts & GrantParts;
type Draft = Omit<SubmitRequest, 'grantTo' | 'deadline'>;
type Created = Extract<SubmitResult, { kind: 'created' }>;
type Repeated = Extract<SubmitResult, { kind: 'repeated' }>;

/**
 * Creates a task for a message, in one transaction: session, task, turn, run, events, input artifacts, the idempotency
 * row and, while this process has a slot, the grant. Gives the known message instead when another call was first.
 */
export async function beginTask(
  parts: NewTaskParts,
  request: SendRequest,
  how: { readonly skillId: string; readonly fingerprint: Fingerprint },
): Promise<Submitted | Repeated> {
  const draft = await draftTask(parts, request, how);
  const scoped = parts.store.scoped(request.agent.name as AgentName, request.caller.scope);
  const queued = queuedDeadline(parts.config.times);
  const result = await placeRun<SubmitResult>(
    parts,
    queued === 'none' ? undefined : queued,
    async (placement) => {
      const submitted = await scoped.submit({ ...draft, ...placement });
      if (submitted.kind === 'created') parts.hub.publish(submitted.task.no, submitted.events);
      return submitted;
    },
    (submitted) => (submitted.kind === 'created' ? materialOf(submitted, draft) : undefined),
  );
  if (result.kind === 'repeated') return result;
  if (result.grant === undefined) parts.hub.runnable();
  parts.log.debug('task created', taskFields(result.task, draft.run.id));
  return {
    kind: 'task',
    task: result.task,
    taskNo: result.task.no,
    turnNo: FIRST_TURN,
    messageSeq: messageOf(result).seq,
    first: firstSnapshot(result, draft.events.length),
    repeated: false,
  };
}

async function draftTask(
  parts: NewTaskParts,
  request: SendRequest,
  how: { readonly skillId: string; readonly fingerprint: Fingerprint },
): Promise<Draft> {
  const { agent, message, caller, traceId } = request;
  const policy = policyOf(agent, how.skillId);
  const taskId = parts.newId() as TaskId;
  const contextId = message.contextId ?? (parts.newId() as ContextId);
  const staged = policy.storeContent ? await stageParts(parts.store, message.parts) : undefined;
  const placed: Message = { ...message, parts: staged?.parts ?? message.parts, contextId, taskId };
  const { totalMaxMs } = parts.config.times;
  return {
    taskId,
    contextId,
    threadId: parts.newId() as ThreadId,
    ...(policy.idempotency === 'off'
      ? {}
      : { idempotency: { messageId: message.messageId, fingerprint: how.fingerprint } }),
    events: firstEvents(placed, { taskId, storeContent: policy.storeContent }),
    turn: {
      turnNo: FIRST_TURN,
      messageId: message.messageId,
      messageOrdinal: 2,
      skill: how.skillId,
      principal: caller.principal,
      agentVersion: agent.version,
      ...(policy.storeContent ? {} : { input: sealContent(parts.secrets, message) }),
    },
    run: { id: parts.newId() as RunId, turnNo: FIRST_TURN, attempt: 1, delayMs: 0 },
    blobs: staged?.blobs ?? [],
    ...(totalMaxMs > 0 ? { totalMs: totalMaxMs } : {}),
    ...(traceId === undefined ? {} : { trace: traceId }),
  };
}

function firstEvents(
  message: Message,
  how: { readonly taskId: TaskId; readonly storeContent: boolean },
): readonly NewEvent[] {
  return [
    { kind: 'task-created' },
    {
      kind: 'message-received',
      message: how.storeContent ? message : withholdContent(message),
      turnNo: FIRST_TURN,
    },
    ...(how.storeContent ? inputArtifacts({ ...message, taskId: how.taskId, turnNo: FIRST_TURN }) : []),
    { kind: 'status-changed', state: 'submitted' },
  ];
}

/** The task as its sender first sees it: SUBMITTED, before what the grant wrote in the same transaction. */
function firstSnapshot(created: Created, eventCount: number): Snapshot {
  const events = created.events.slice(0, eventCount);
  return {
    task: events.reduce(foldTask, { ...created.task, state: 'submitted', generation: 0 }),
    content: events.reduce(foldContent, emptyContent),
  };
}

/** What the engine would read from the store, made from what was just written. */
function materialOf(created: Created, draft: Draft): TurnMaterial {
  const { input } = draft.turn;
  return {
    task: created.task,
    content: created.events.reduce(foldContent, emptyContent),
    message: messageOf(created),
    journal: [],
    ...(input === undefined ? {} : { input }),
  };
}

function messageOf(created: Created): StoredEvent & { readonly kind: 'message-received' } {
  const event = created.events[1];
  assert(event?.kind === 'message-received', 'the message is the second event of a task');
  return event;
}
