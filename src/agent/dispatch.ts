import { CodedError } from '../base/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { Message } from '../model/message.ts';
import { ONLY_SKILL } from './define-agent.ts';
import type { Agent } from './definition.ts';
import { AgentCodeError } from './errors.ts';

/** A message that begins a task or asks for a reply, with what its request said beside it. */
export interface Addressed {
  readonly message: Message;
  readonly metadata?: JsonObject;
}

/** Our own metadata key is meant for nobody else, so what it holds must be a skill; the short ones may be somebody else's words. */
const OWN_KEY = 'https://holdfast.dev/a2a/v1/skillId';
const SHORT_KEYS = ['skillId', 'skill'] as const;

/**
 * The skill that takes a message. First match wins: the agent's own `dispatch`, the skill id in the metadata of the
 * message or of the request, a data part `{ "skill", "input" }`, the only or `default` skill. Otherwise InvalidParams
 * that lists the skills. A `dispatch` that throws or names no skill is the author's fault: `internal`, with the reason
 * as its cause.
 */
export function selectSkill(agent: Agent, request: Addressed): string {
  return dispatched(agent, request.message) ?? named(agent, request) ?? onlySkill(agent) ?? refuse(agent);
}

function dispatched(agent: Agent, message: Message): string | undefined {
  if (agent.dispatch === undefined) return undefined;
  const skillId = callDispatch(agent.dispatch, message);
  if (skillId === undefined || isSkill(agent, skillId)) return skillId;
  throw authorsFault(`dispatch() returned ${JSON.stringify(skillId)}, and ${skillsOf(agent)}.`);
}

function callDispatch(dispatch: (message: Message) => string | undefined, message: Message): string | undefined {
  try {
    return dispatch(message);
  } catch (error) {
    throw authorsFault('dispatch() threw. It must be pure and give a skill id or undefined.', error);
  }
}

function authorsFault(text: string, cause?: unknown): CodedError {
  const fault = new AgentCodeError('dispatch', text);
  fault.cause = cause;
  return new CodedError('internal', { cause: fault });
}

function named(agent: Agent, { message, metadata }: Addressed): string | undefined {
  const places = [
    [message.metadata, 'message.metadata'],
    [metadata, 'metadata'],
  ] as const;
  for (const key of [OWN_KEY, ...SHORT_KEYS]) {
    for (const [holder, path] of places) {
      const value = holder?.[key];
      if (value === undefined || (key !== OWN_KEY && typeof value !== 'string')) continue;
      return knownSkill(agent, value, key === OWN_KEY ? `${path}["${key}"]` : `${path}.${key}`);
    }
  }
  return inDataPart(agent, message);
}

function inDataPart(agent: Agent, message: Message): string | undefined {
  const index = message.parts.findIndex((part) => part.kind === 'data');
  const part = message.parts[index];
  const envelope = part?.kind === 'data' ? readEnvelope(part.data) : undefined;
  if (envelope === undefined) return undefined;
  const isMeant = 'input' in envelope || isSkill(agent, envelope.skill);
  return isMeant ? knownSkill(agent, envelope.skill, `message.parts[${index}].data.skill`) : undefined;
}

/** `{ "skill": "refund", "input": … }`, the envelope that names a skill in a data part. One more field, and it is data of its own. */
export interface SkillEnvelope {
  readonly skill: string;
  readonly input?: Json;
}

export function readEnvelope(data: Json): SkillEnvelope | undefined {
  if (!isJsonObject(data) || typeof data.skill !== 'string') return undefined;
  if (!Object.keys(data).every((key) => key === 'skill' || key === 'input')) return undefined;
  return { skill: data.skill, ...(data.input === undefined ? {} : { input: data.input }) };
}

function knownSkill(agent: Agent, value: Json, field: string): string {
  if (typeof value === 'string' && isSkill(agent, value)) return value;
  const shown = typeof value === 'string' ? JSON.stringify(value.slice(0, 64)) : 'that';
  throw new CodedError('invalid_argument', {
    message: `This agent has no skill ${shown}. ${hint(agent)}`,
    violations: [{ field, description: `must be one of ${Object.keys(agent.skills).join(', ')}` }],
  });
}

function onlySkill(agent: Agent): string | undefined {
  const ids = Object.keys(agent.skills);
  if (ids.length === 1) return ids[0];
  return isSkill(agent, ONLY_SKILL) ? ONLY_SKILL : undefined;
}

function refuse(agent: Agent): never {
  throw new CodedError('invalid_argument', {
    message: hint(agent),
    violations: [{ field: 'metadata.skillId', description: 'is required: this agent has several skills' }],
  });
}

function isSkill(agent: Agent, skillId: string): boolean {
  return Object.hasOwn(agent.skills, skillId);
}

function hint(agent: Agent): string {
  const example = Object.keys(agent.skills)[0] ?? '';
  return `This ${skillsOf(agent)}. Name one: metadata {"skillId":"${example}"} or --skill ${example}.`;
}

function skillsOf(agent: Agent): string {
  const ids = Object.keys(agent.skills);
  return ids.length === 1 ? `agent has the skill ${ids[0]}` : `agent has the skills ${ids.join(', ')}`;
}
