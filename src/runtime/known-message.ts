import { CodedError } from '../base/errors.ts';
import type { TaskId } from '../model/ids.ts';
import type { Message } from '../model/message.ts';
import type { Fingerprint } from '../model/task-write.ts';
import type { KnownMessage, ScopedStore } from '../store/contract.ts';
import { differingPart, isSameContent } from './fingerprint.ts';
import { parseMessage } from './message-text.ts';
import type { Submitted } from './ports.ts';

/**
 * What a message that was used before comes to: where it went then, or `message_id_conflict` when it says something
 * else now. Undefined while its first call still runs a reply, and when its task was deleted a moment ago.
 */
export async function repeatOf(
  scoped: ScopedStore,
  message: Message,
  at: { readonly known: KnownMessage; readonly fingerprint: Fingerprint },
): Promise<Submitted | undefined> {
  const { known, fingerprint } = at;
  if (!isSameContent(known.fingerprint, fingerprint)) throw await conflict(scoped, message, known);
  if (known.state === 'executing') return undefined;
  if (known.state === 'reply') return { kind: 'reply', message: parseMessage(known.reply) };
  const view = await scoped.readTask(known.taskId);
  if (view === undefined) return undefined;
  const { taskNo, turnNo, messageSeq } = known;
  return { kind: 'task', task: view.task, taskNo, turnNo, messageSeq, repeated: true };
}

async function conflict(scoped: ScopedStore, message: Message, known: KnownMessage): Promise<CodedError> {
  const where = known.state === 'task' ? ` for task ${known.taskId}` : '';
  const part = known.state === 'task' ? await differenceIn(scoped, message, known.taskId) : undefined;
  const which = part === undefined ? '' : ` (${part} differs)`;
  return new CodedError('message_id_conflict', {
    message: `Message ${message.messageId} was already used${where} with other content${which}. Use a new messageId for a new message.`,
    violations: [{ field: 'message.messageId', description: 'was already used with other content' }],
    metadata: {
      messageId: message.messageId,
      ...(known.state === 'task' ? { taskId: known.taskId } : {}),
    },
  });
}

/** The message is in the task's history unless its agent keeps no content; a task that is gone says nothing more. */
async function differenceIn(scoped: ScopedStore, message: Message, taskId: TaskId): Promise<string | undefined> {
  const snapshot = await scoped.readSnapshot(taskId, { artifacts: false });
  const known = snapshot?.content.history.find(
    ({ messageId, role }) => messageId === message.messageId && role === 'user',
  );
  return known === undefined ? undefined : await differingPart(known.parts, message.parts);
}
