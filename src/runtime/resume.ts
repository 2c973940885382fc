import { policyOf } from '../agent/define-agent.ts';
import { assert } from '../base/assert.ts';
import type { AgentName, MessageId, RunId } from '../model/ids.ts';
import type { Message, Part } from '../model/message.ts';
import { decideResume, queuedDeadline, refusal } from '../model/task-decide.ts';
import type { TaskView } from '../model/task-view.ts';
import type { TaskWrite } from '../model/task-write.ts';
import type { CommandResult, ScopedStore } from '../store/contract.ts';
import { untilWritten } from './command-tries.ts';
import { placeRun } from './local-grant.ts';
import { taskFields } from './log-fields.ts';
import type { NewTaskParts } from './new-task.ts';
import type { Runtime } from './ports.ts';
import { taskNotFound } from './task-answers.ts';
import { sealContent, withholdContent } from './thin-message.ts';

type ResumeRequest = Parameters<Runtime['resume']>[0];

/** Marks the message that stands for a resume in the log. */
export const RESUMED_KEY = 'https://holdfast.dev/a2a/v1/resumed';

/**
 * Clears AUTH_REQUIRED without a message of the client's. A parked turn goes on where it waited. Where the handler had
 * ended its turn, the next one begins with the same content, marked as resumed: what was asked for is asked again, now
 * that the caller has signed in.
 */
export async function resumeTask(parts: NewTaskParts, request: ResumeRequest): Promise<void> {
  const { agent, caller, taskId } = request;
  const scoped = parts.store.scoped(agent.name as AgentName, caller.scope);
  await untilWritten(async () => {
    const view = await scoped.readTask(taskId);
    if (view === undefined) throw taskNotFound(taskId);
    const policy = policyOf(agent, view.turn.skill);
    const message = await messageAgain(parts, scoped, view);
    const decision = decideResume(view, {
      message: policy.storeContent ? message : withholdContent(message),
      inputs: [],
      principal: caller.principal,
      agentVersion: agent.version,
      policy,
      times: parts.config.times,
      queuedTurnsMax: parts.config.queuedTurnsMax,
      ids: { runId: parts.newId() as RunId, statusMessageId: parts.newId() as MessageId },
      ...(policy.storeContent ? {} : { input: sealContent(parts.secrets, message) }),
    });
    if (decision.kind === 'refused') throw refusal(decision);
    assert(decision.kind === 'write', 'a resume always changes the task');
    const result = await write(parts, scoped, view, decision.write);
    if (result.kind === 'gone') throw taskNotFound(taskId);
    return result.kind === 'written' ? 'resumed' : undefined;
  });
}

async function write(
  parts: NewTaskParts,
  scoped: ScopedStore,
  { task }: TaskView,
  change: TaskWrite,
): Promise<CommandResult> {
  const queued = queuedDeadline(parts.config.times);
  const result = await placeRun(parts, queued === 'none' ? undefined : queued, async ({ grantTo, deadline }) => {
    const placed = {
      ...change,
      deadline: deadline ?? ('none' as const),
      ...(grantTo === undefined ? {} : { grantTo }),
    };
    const written = await scoped.command(task.id, task.headSeq, placed);
    if (written.kind === 'written') parts.hub.publish(task.no, written.events);
    return written;
  });
  if (result.kind !== 'written') return result;
  if (result.grant === undefined) parts.hub.runnable();
  parts.log.info('task resumed', taskFields(result.task));
  return result;
}

/** The content of the turn's own message under a new id; a few words where an agent that keeps no content has let it go. */
async function messageAgain(parts: NewTaskParts, scoped: ScopedStore, { task, turn }: TaskView): Promise<Message> {
  const snapshot = await scoped.readSnapshot(task.id, { artifacts: false });
  const before = snapshot?.content.history.find(({ messageId }) => messageId === turn.messageId);
  const isKept = before?.parts.every((part) => part.kind !== 'withheld') ?? false;
  const words: readonly Part[] = [{ kind: 'text', text: 'Signed in.' }];
  return {
    messageId: parts.newId() as MessageId,
    role: 'user',
    parts: before !== undefined && isKept ? before.parts : words,
    contextId: task.contextId,
    taskId: task.id,
    metadata: { ...(isKept ? before?.metadata : {}), [RESUMED_KEY]: true },
  };
}
