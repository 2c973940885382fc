import { assert } from '../base/assert.ts';
import { CodedError, type FieldViolation } from '../base/errors.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import { type Message, textOf } from '../model/message.ts';
import type { Agent } from './definition.ts';
import type { Schema } from './schema.ts';
import { validate } from './validate.ts';

interface Candidate {
  readonly value: unknown;
  /** Where it stands in the request, for the violations. */
  readonly path: string;
}

/**
 * The input of a skill: the first data part (of `{ skill, input }` its `input`), else the text. Without a schema it is
 * the text. A schema sees JSON in the text parsed first, and the text as it stands when that does not fit. What no
 * candidate fits is InvalidParams that names each field.
 */
export async function readInput(agent: Agent, skillId: string, message: Message): Promise<unknown> {
  const skill = agent.skills[skillId];
  assert(skill !== undefined, 'the skill was selected from this agent');
  if (skill.input === undefined) return textOf(message.parts);
  return await validated(skill.input, candidates(message, skillId), skillId);
}

async function validated(schema: Schema, offers: readonly Candidate[], skillId: string): Promise<unknown> {
  let refusal: CodedError | undefined;
  for (const { value, path } of offers) {
    const checked = await validate(schema, value, path);
    if (checked.ok) return checked.value;
    refusal ??= refused(skillId, checked.violations, path);
  }
  assert(refusal !== undefined, 'there is always a candidate for the input');
  throw refusal;
}

/** In the order they are tried; the first one's refusal is what the caller reads. */
function candidates(message: Message, skillId: string): readonly Candidate[] {
  const index = message.parts.findIndex((part) => part.kind === 'data');
  const data = message.parts[index];
  if (data?.kind === 'data') {
    const path = `message.parts[${index}].data`;
    const input = addressedInput(data.data, skillId);
    return [input === undefined ? { value: data.data, path } : { value: input.value, path: `${path}.input` }];
  }
  const text = textOf(message.parts);
  const plain: Candidate = { value: text, path: textPath(message) };
  const parsed = parseJson(text);
  return parsed === undefined ? [plain] : [{ value: parsed.value, path: plain.path }, plain];
}

/** `{ "skill": "refund", "input": … }` is an envelope when it names this skill and holds nothing else. */
function addressedInput(data: Json, skillId: string): { readonly value: Json | undefined } | undefined {
  if (!isJsonObject(data) || data.skill !== skillId) return undefined;
  if (!Object.keys(data).every((key) => key === 'skill' || key === 'input')) return undefined;
  return { value: data.input };
}

function textPath(message: Message): string {
  const texts = message.parts.flatMap((part, index) => (part.kind === 'text' ? [index] : []));
  return texts.length === 1 ? `message.parts[${texts[0]}].text` : 'message.parts';
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function refused(skillId: string, violations: readonly FieldViolation[], path: string): CodedError {
  const faults = violations.map(({ field, description }) => {
    const name = field.startsWith(`${path}.`) ? field.slice(path.length + 1) : field.slice(path.length);
    return `${name === '' ? 'the input' : name} ${description}`;
  });
  return new CodedError('invalid_argument', {
    message: `Skill "${skillId}" refused the input: ${faults.sort().join('; ')}. Nothing was stored.`,
    violations,
  });
}
