import { policyOf } from '../agent/define-agent.ts';
import type { Agent } from '../agent/definition.ts';
import { selectSkill } from '../agent/dispatch.ts';
import { readInput } from '../agent/input.ts';
import { limits } from '../base/limits.ts';
import type { AgentName } from '../model/ids.ts';
import type { Fingerprint } from '../model/task-write.ts';
import type { KnownMessage, ScopedStore } from '../store/contract.ts';
import { needsStaging } from './blob-staging.ts';
import { continueTask } from './continue-task.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { InTurn } from './in-turn.ts';
import { repeatOf } from './known-message.ts';
import { beginTask, type NewTaskParts } from './new-task.ts';
import type { SendRequest, Submitted } from './ports.ts';
import type { Replies } from './reply-submit.ts';
import { stillRunning } from './task-answers.ts';

export interface SubmitParts extends NewTaskParts {
  readonly replies: Replies;
  readonly uploads: InTurn;
}

/**
 * The only door that creates or continues a task, and that runs a reply skill: a message with a taskId continues that
 * task, any other begins a task or asks for a reply. However often and wherever a message is sent, it is taken once, and
 * a repeat gets what the first one came to even where it would be refused today. The write that begins a task looks for
 * the message itself, so that is where a new one is found to be new; it is looked for before only where more than that
 * write would come first.
 */
export async function submitMessage(parts: SubmitParts, request: SendRequest): Promise<Submitted> {
  const { agent, message, caller } = request;
  const scoped = parts.store.scoped(agent.name as AgentName, caller.scope);
  const fingerprint = await fingerprintOf(parts.secrets, request);
  const remembers = policyOf(agent, '').idempotency !== 'off';
  const findRepeat = async (given?: KnownMessage): Promise<Submitted | undefined> => {
    const known = given ?? (remembers ? await scoped.findMessage(message.messageId) : undefined);
    return known === undefined ? undefined : await repeatOf(scoped, message, { known, fingerprint });
  };
  const place = async (): Promise<Submitted> => {
    const { taskId } = message;
    if (taskId === undefined) return await begin(parts, request, { scoped, fingerprint, findRepeat });
    return (await findRepeat()) ?? (await continueTask(parts, request, { taskId, fingerprint, findRepeat }));
  };
  if (!remembers || !needsStaging(message.parts)) return await place();
  // Of equal uploads at once, the first writes its megabytes and the others find its message.
  const key = JSON.stringify([agent.name, caller.scope, message.messageId]);
  return await parts.uploads.do(key, async () => (await findRepeat()) ?? (await place()));
}

interface Beginning {
  readonly scoped: ScopedStore;
  readonly fingerprint: Fingerprint;
  readonly findRepeat: (known?: KnownMessage) => Promise<Submitted | undefined>;
}

async function begin(parts: SubmitParts, request: SendRequest, how: Beginning): Promise<Submitted> {
  const { agent, message } = request;
  let skillId: string;
  try {
    skillId = await takingSkill(agent, request);
  } catch (error) {
    const repeat = await how.findRepeat();
    if (repeat !== undefined) return repeat;
    throw error;
  }
  const isReply = agent.skills[skillId]?.kind === 'reply';
  const repeat = isReply ? await how.findRepeat() : undefined;
  if (repeat !== undefined) return repeat;
  if (isReply) return await parts.replies.answer(request, { skillId, ...how });
  for (let tries = 0; tries < limits.commandTriesMax; tries += 1) {
    const result = await beginTask(parts, request, { skillId, fingerprint: how.fingerprint });
    if (result.kind !== 'repeated') return result;
    const repeat = await how.findRepeat(result.message);
    if (repeat !== undefined) return repeat;
  }
  throw stillRunning(message.messageId);
}

/** The skill of a message that it can read. */
async function takingSkill(agent: Agent, request: SendRequest): Promise<string> {
  const skillId = selectSkill(agent, request);
  await readInput(agent, skillId, request.message);
  return skillId;
}
