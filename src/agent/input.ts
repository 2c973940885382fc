import { assert } from '../base/assert.ts';
import { CodedError, type FieldViolation } from '../base/errors.ts';
import { type Message, textOf } from '../model/message.ts';
import type { Agent } from './definition.ts';
import { readEnvelope } from './dispatch.ts';
import type { Schema } from './schema.ts';
import { slowText } from './slow-patterns.ts';
import { validate } from './validate.ts';

interface Candidate {
  readonly value: unknown;
  /** Where it stands in the request, for the violations. */
  readonly path: string;
}

/**
 * The input of a skill: the first data part (of `{ skill, input }` its `input`), else the text. Without a schema it is
 * the text. With a schema, text that is a JSON object or list is offered parsed, then as it stands; other text as it
 * stands, then parsed ("42" for a number). Where nothing fits: InvalidParams that names each field.
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
    const slow = slowText(schema, value, path);
    if (slow !== undefined) throw refused(skillId, [slow], path);
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
    const envelope = readEnvelope(data.data);
    return [
      envelope?.skill === skillId ? { value: envelope.input, path: `${path}.input` } : { value: data.data, path },
    ];
  }
  const text = textOf(message.parts);
  const path = textPath(message);
  const parsed = parseJson(text);
  if (parsed === undefined) return [{ value: text, path }];
  const both = [
    { value: parsed.value, path },
    { value: text, path },
  ];
  return typeof parsed.value === 'object' ? both : both.reverse();
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
