import type { FieldViolation } from '../base/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { withinTime } from '../base/within-time.ts';
import { jsonSchemaOf } from './json-schema.ts';
import type { Schema } from './schema.ts';

const described = new WeakMap<Schema, JsonObject | 'no patterns'>();

/**
 * The text in a caller's value that a pattern of the schema would take hours with, found before the schema's own library
 * compares them without an end. Only what the schema says of itself as JSON Schema can be found; one without patterns costs nothing.
 */
export function slowText(schema: Schema, value: unknown, path: string): FieldViolation | undefined {
  const json = patternsOf(schema);
  if (json === 'no patterns') return undefined;
  const at = { field: path, pattern: '' };
  if (withinTime(() => comparePatterns(json, value, path, at)) !== 'too-slow') return undefined;
  return { field: at.field, description: `is too intricate for ${at.pattern}` };
}

function patternsOf(schema: Schema): JsonObject | 'no patterns' {
  const known = described.get(schema);
  if (known !== undefined) return known;
  const json = jsonSchemaOf(schema);
  const found = json !== undefined && JSON.stringify(json).includes('"pattern":') ? json : 'no patterns';
  described.set(schema, found);
  return found;
}

/** `at` tells which comparison is under way, for when it is stopped. */
function comparePatterns(
  schema: JsonObject,
  value: unknown,
  path: string,
  at: { field: string; pattern: string },
): void {
  for (const list of [schema.anyOf, schema.oneOf, schema.allOf]) {
    if (!Array.isArray(list)) continue;
    for (const one of list as readonly Json[]) if (isJsonObject(one)) comparePatterns(one, value, path, at);
  }
  const { pattern, items, properties } = schema;
  if (typeof value === 'string' && typeof pattern === 'string') {
    Object.assign(at, { field: path, pattern });
    compare(pattern, value);
  } else if (Array.isArray(value) && isJsonObject(items)) {
    for (const [index, item] of value.entries()) comparePatterns(items, item, `${path}[${index}]`, at);
  } else if (isJsonObject(value) && isJsonObject(properties)) {
    for (const [name, property] of Object.entries(properties)) {
      if (!isJsonObject(property) || !Object.hasOwn(value, name)) continue;
      comparePatterns(property, value[name], `${path}.${name}`, at);
    }
  }
}

/** What comes of it is the library's to say. */
function compare(pattern: string, text: string): void {
  try {
    new RegExp(pattern, 'u').test(text);
  } catch {}
}
