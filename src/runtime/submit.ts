import { policyOf } from '../agent/define-agent.ts';
import { selectSkill } from '../agent/dispatch.ts';
import { readInput } from '../agent/input.ts';
import { assert } from '../base/assert.ts';
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
 * The only door that creates or continues a task, and that runs a reply skill. A message that was used before is found
 * first of all; then one with a taskId continues that task, and any other begins a task or asks for a reply. However
 * often and wherever a message is sent, it is taken once.
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
  const repeat = await findRepeat();
  if (repeat !== undefined) return repeat;
  const place = (): Promise<Submitted> => {
    const { taskId } = message;
    if (taskId !== undefined) return continueTask(parts, request, { taskId, fingerprint, findRepeat });
    return begin(parts, request, { scoped, fingerprint, findRepeat });
  };
  if (!remembers || !needsStaging(message.parts)) return await place();
  // Of equal uploads at once, the first writes its megabytes and the others find its message.
  const key = JSON.stringify([agent.name, caller.scope, message.messageId]);
  return await parts.uploads.do(key, async () => (await findRepeat()) ?? (await place()));
}

async function begin(
  parts: SubmitParts,
  request: SendRequest,
  how: {
    readonly scoped: ScopedStore;
    readonly fingerprint: Fingerprint;
    readonly findRepeat: (known?: KnownMessage) => Promise<Submitted | undefined>;
  },
): Promise<Submitted> {
  const { agent, message } = request;
  const skillId = selectSkill(agent, request);
  const skill = agent.skills[skillId];
  assert(skill !== undefined, 'the skill was selected from this agent');
  await readInput(agent, skillId, message);
  if (skill.kind === 'reply') return await parts.replies.answer(request, { skillId, ...how });
  for (let tries = 0; tries < limits.commandTriesMax; tries += 1) {
    const result = await beginTask(parts, request, { skillId, fingerprint: how.fingerprint });
    if (result.kind !== 'repeated') return result;
    const repeat = await how.findRepeat(result.message);
    if (repeat !== undefined) return repeat;
  }
  throw stillRunning(message.messageId);
}
