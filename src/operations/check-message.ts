import { selectSkill } from '../agent/dispatch.ts';
import { CodedError } from '../base/errors.ts';
import { essenceOf } from '../base/media-type.ts';
import type { Part } from '../model/message.ts';
import { isInterrupted } from '../model/task.ts';
import { rowsOf } from './find-task.ts';
import type { Call, SendParams } from './operations.ts';
import type { OperationParts } from './verb.ts';

/**
 * What a message may not bring, before anything is stored. `acceptedOutputModes` is advice to the agent (A2A 1.0
 * §3.2.2: "agents SHOULD use this to tailor their output"), so it refuses nothing.
 */
export async function checkMessage(parts: OperationParts, call: Call, params: SendParams): Promise<void> {
  if (params.wantsPush) throw pushNotSupported();
  await checkMediaTypes(parts, call, params);
}

/** All push operations, and a send that asks for pushes, answer this. */
export function pushNotSupported(): CodedError {
  return new CodedError('push_notification_not_supported', {
    message: 'This server sends no push notifications. Follow the task with SubscribeToTask or GetTask.',
  });
}

/** Only a skill that says what it takes refuses the rest; the skill is looked up only where one does. */
async function checkMediaTypes(parts: OperationParts, call: Call, params: SendParams): Promise<void> {
  const { skills } = call.agent;
  if (!Object.values(skills).some((skill) => skill.inputModes !== undefined)) return;
  const skillId = await skillOf(parts, call, params);
  const accepted = skillId === undefined ? undefined : skills[skillId]?.inputModes;
  if (skillId === undefined || accepted === undefined || accepted.length === 0) return;
  params.message.parts.forEach((part, index) => {
    const mediaType = mediaTypeOf(part);
    if (mediaType === undefined || accepts(accepted, mediaType)) return;
    throw new CodedError('content_type_not_supported', {
      message: `Skill "${skillId}" takes ${accepted.join(', ')}, not ${mediaType}.`,
      violations: [
        { field: `message.parts[${index}].mediaType`, description: `must be one of ${accepted.join(', ')}` },
      ],
      metadata: { mediaType },
    });
  });
}

/**
 * The skill that takes a message as its input: what dispatch says, or that of the task which queues it. An answer is no
 * input, for its question says what it wants; an unknown task has no skill, and submit says so.
 */
async function skillOf(parts: OperationParts, call: Call, params: SendParams): Promise<string | undefined> {
  const { message, metadata } = params;
  if (message.taskId === undefined)
    return selectSkill(call.agent, metadata === undefined ? { message } : { message, metadata });
  const view = await rowsOf(parts, call).readTask(message.taskId);
  return view === undefined || isInterrupted(view.task.state) ? undefined : view.turn.skill;
}

/** A part without a media type is what its kind says; a link or bytes without one are taken on trust. */
function mediaTypeOf(part: Part): string | undefined {
  if (part.mediaType !== undefined) return essenceOf(part.mediaType);
  if (part.kind === 'text') return 'text/plain';
  return part.kind === 'data' ? 'application/json' : undefined;
}

function accepts(accepted: readonly string[], mediaType: string): boolean {
  return accepted.map(essenceOf).some((mode) => {
    if (mode === '*/*' || mode === '*' || mode === mediaType) return true;
    return mode.endsWith('/*') && mediaType.startsWith(mode.slice(0, -1));
  });
}
