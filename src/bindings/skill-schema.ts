import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { ServedAgent } from './door.ts';

type Skill = ServedAgent['skills'][string];

/** Standard JSON Schema (standardschema.dev): what zod 4.2, arktype 2.1.28 and later can say of themselves. */
interface JsonSchemaSource {
  readonly jsonSchema?: {
    readonly input?: (options: { readonly target: string }) => unknown;
    readonly output?: (options: { readonly target: string }) => unknown;
  };
}

/**
 * The JSON Schema of what a skill takes, or of what it returns as callers see it. Undefined where the author's library
 * says none, or the schema holds what JSON has no word for: the skill works all the same.
 */
export function skillSchema(skill: Skill, side: 'input' | 'output'): JsonObject | undefined {
  const schema = skill[side];
  if (schema === undefined) return undefined;
  const source = (schema['~standard'] as JsonSchemaSource).jsonSchema;
  try {
    // What an author returns is parsed by the output schema, so callers read its output.
    const json = source?.[side]?.({ target: 'draft-2020-12' });
    return isJsonObject(json) ? withoutDialect(json) : undefined;
  } catch {
    return undefined;
  }
}

function withoutDialect(schema: JsonObject): JsonObject {
  const { $schema: _dialect, ...rest } = schema;
  return rest;
}
