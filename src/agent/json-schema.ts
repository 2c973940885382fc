import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { Schema } from './schema.ts';

/** How libraries beside Standard Schema v1 say what JSON they take. */
interface DescribedSchema {
  readonly '~standard': {
    readonly vendor: string;
    /** Standard JSON Schema, the sister specification. */
    readonly jsonSchema?: { input(options: { readonly target: string }): unknown };
  };
  /** arktype. */
  readonly toJsonSchema?: (options?: unknown) => unknown;
  /** zod 4. */
  readonly _zod?: unknown;
}

const TARGET = 'draft-2020-12';

/**
 * What a schema takes, as JSON Schema; undefined where its library has no word for it. A schema that cannot be
 * described (a transform at its head, a date) is no error: the caller then reads text, and the schema still judges.
 */
export function jsonSchemaOf(schema: Schema): JsonObject | undefined {
  const described = schema as Schema & DescribedSchema;
  const written =
    attempt(() => described['~standard'].jsonSchema?.input({ target: TARGET })) ??
    attempt(() => (described._zod === undefined ? undefined : zodSchema(schema))) ??
    attempt(() => arktypeSchema(described));
  if (!isJsonObject(written)) return undefined;
  const { $schema: _dialect, '~standard': _standard, ...rest } = JSON.parse(JSON.stringify(written)) as JsonObject;
  return rest;
}

/**
 * The same in the flat subset of questions: one primitive, or an object of primitives. What lies outside of it (a
 * list, a nested object) is left as the library wrote it; only the handler's schema judges that.
 */
export function flatJsonSchema(schema: Schema): JsonObject | undefined {
  const full = jsonSchemaOf(schema);
  if (full === undefined || saysNothing(full)) return undefined;
  if (full.type !== 'object' || !isJsonObject(full.properties)) return flatProperty(full);
  const properties = Object.entries(full.properties).map(([name, property]): [string, Json] => [
    name,
    isJsonObject(property) ? flatProperty(property) : property,
  ]);
  return pick(full, ['type', 'title', 'description', 'required'], { properties: Object.fromEntries(properties) });
}

/** `{}` takes anything: text then goes to the handler's schema as it is. */
function saysNothing(schema: JsonObject): boolean {
  return Object.keys(schema).every((word) => word === 'title' || word === 'description' || word === 'default');
}

const PRIMITIVE_WORDS = [
  'type',
  'title',
  'description',
  'enum',
  'const',
  'default',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
];
const PRIMITIVES: readonly unknown[] = ['string', 'number', 'integer', 'boolean'];

function flatProperty(property: JsonObject): JsonObject {
  const choices = enumOfConstants(property);
  if (choices !== undefined) return choices;
  if (!PRIMITIVES.includes(property.type) && !Array.isArray(property.enum) && !('const' in property)) return property;
  return withoutNumberEdges(pick(property, PRIMITIVE_WORDS, {}));
}

/** `anyOf: [{ const: "a" }, …]` is how some libraries write an enum. */
function enumOfConstants(property: JsonObject): JsonObject | undefined {
  const options = property.anyOf ?? property.oneOf;
  if (!Array.isArray(options) || options.length === 0) return undefined;
  const constants = options.map((option: Json) => (isJsonObject(option) ? option.const : undefined));
  if (constants.some((constant) => constant === undefined || typeof constant === 'object')) return undefined;
  return pick(property, ['title', 'description', 'default'], { enum: constants as readonly Json[] });
}

/** zod bounds every integer by what a double holds; nobody needs to read that. */
function withoutNumberEdges(property: JsonObject): JsonObject {
  const { minimum, maximum, ...rest } = property;
  return {
    ...rest,
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
  };
}

function pick(from: JsonObject, words: readonly string[], more: JsonObject): JsonObject {
  return { ...Object.fromEntries(Object.entries(from).filter(([word]) => words.includes(word))), ...more };
}

function zodSchema(schema: Schema): unknown {
  return z.toJSONSchema(schema as never, { io: 'input', unrepresentable: 'any', target: TARGET });
}

function arktypeSchema(schema: DescribedSchema): unknown {
  if (schema['~standard'].vendor !== 'arktype') return undefined;
  return schema.toJsonSchema?.({ fallback: (context: { readonly base: unknown }) => context.base });
}

/** A library throws where it cannot say it; then there is nothing to publish. */
function attempt(describe: () => unknown): unknown {
  try {
    return describe();
  } catch {
    return undefined;
  }
}
