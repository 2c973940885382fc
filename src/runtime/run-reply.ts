import type { Agent } from '../agent/definition.ts';
import { outputParts } from '../agent/output.ts';
import { assert } from '../base/assert.ts';
import { CodedError, isCodedError } from '../base/errors.ts';
import type { ContextId, MessageId } from '../model/ids.ts';
import type { Message, Part } from '../model/message.ts';
import type { Caller } from '../model/scope.ts';
import type { MemoryWrite } from '../store/memory-contract.ts';
import { createBaseTurn } from './base-turn.ts';
import { safeFailure } from './failure.ts';
import { createMemories } from './memories.ts';
import type { RuntimeParts } from './ports.ts';
import { shorten } from './status-writer.ts';

export interface ReplyRequest {
  readonly agent: Agent;
  readonly skillId: string;
  readonly message: Message;
  readonly caller: Caller;
  readonly session: { readonly id: string; readonly threadId: string };
  readonly signal: AbortSignal;
}

/** The answer of a reply skill, and what it wrote to its memory: the caller commits both together. */
export interface Reply {
  readonly message: Message;
  readonly memoryWrites: readonly MemoryWrite[];
}

/**
 * Executes a reply skill. Throws `invalid_argument` where the skill refuses the message or its handler rejects it,
 * `invalid_agent_response` where the output is not what its schema says, `internal` with a safe text otherwise.
 */
export async function runReply(parts: RuntimeParts, request: ReplyRequest): Promise<Reply> {
  const { agent, skillId, caller, session } = request;
  const skill = agent.skills[skillId];
  assert(skill?.kind === 'reply', 'only a reply skill is executed as a reply');
  const log = parts.log.child({ agent: agent.name, skill: skillId });
  const memoryWrites: MemoryWrite[] = [];
  const memories = createMemories({
    store: parts.store.scoped(agent.name as never, caller.scope).memories,
    newId: parts.newId,
    write: async (write) => {
      memoryWrites.push(write);
    },
  });
  try {
    const turn = await createBaseTurn({ ...request, parts, log, memories });
    const returned = await skill.run(turn as never);
    const content = await outputParts(skill, returned);
    return { message: replyMessage(parts, content, session.id), memoryWrites };
  } catch (error) {
    throw replyError(error, { newId: parts.newId, log, showErrors: parts.config.showErrors });
  }
}

const NOTHING: readonly Part[] = [{ kind: 'text', text: '' }];

function replyMessage(parts: RuntimeParts, content: readonly Part[], contextId: string): Message {
  return {
    messageId: parts.newId() as MessageId,
    role: 'agent',
    parts: content.length > 0 ? content : NOTHING,
    contextId: contextId as ContextId,
  };
}

function replyError(error: unknown, source: Parameters<typeof safeFailure>[1]): CodedError {
  if (isCodedError(error) && (error.code === 'invalid_argument' || error.code === 'unavailable')) return error;
  if (error instanceof Error && error.name === 'Reject') {
    return new CodedError('invalid_argument', { message: shorten(error.message), cause: error });
  }
  if (error instanceof Error && error.name === 'Fail') {
    const { code } = error as { readonly code?: string };
    return new CodedError('internal', {
      message: shorten(error.message),
      cause: error,
      ...(code === undefined ? {} : { metadata: { code } }),
    });
  }
  const failure = safeFailure(error, source);
  const code = failure.code === 'invalid_agent_response' ? 'invalid_agent_response' : 'internal';
  return new CodedError(code, { message: failure.text, metadata: { errorId: failure.errorId }, cause: error });
}
