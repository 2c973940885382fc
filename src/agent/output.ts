import type { Json } from '../base/json.ts';
import type { Part } from '../model/message.ts';
import type { AnySkill } from './definition.ts';
import { AgentCodeError } from './errors.ts';
import { ownParts } from './parts.ts';
import { validate } from './validate.ts';

/**
 * What a handler returned, as parts of the artifact `result` or of a reply's Message. Text without an output schema,
 * else one data part with the schema's defaults applied, and before it the text that the skill says of it. None when
 * there is nothing to hand back. An output that its own schema refuses is the author's fault.
 */
export async function outputParts(skill: AnySkill, returned: unknown): Promise<readonly Part[]> {
  if (skill.output === undefined) return textParts(returned);
  const checked = await validate(skill.output, returned, 'output');
  if (!checked.ok) {
    const faults = checked.violations.map(({ field, description }) => `${field} ${description}`).join('; ');
    throw new AgentCodeError('output', `What the handler returned is not what its output schema says: ${faults}.`);
  }
  const say = skill.say as ((output: unknown) => string) | undefined;
  const data: Part = { kind: 'data', data: checked.value as Json };
  const parts: readonly Part[] = say === undefined ? [data] : [{ kind: 'text', text: say(checked.value) }, data];
  return ownParts(parts, 'The output of the handler');
}

function textParts(returned: unknown): readonly Part[] {
  if (returned === undefined) return [];
  if (typeof returned === 'string') return [{ kind: 'text', text: returned }];
  throw new AgentCodeError(
    'output',
    `The handler returned ${returned === null ? 'null' : `a value of type ${typeof returned}`}. Without an output schema a handler returns text or nothing.`,
  );
}
