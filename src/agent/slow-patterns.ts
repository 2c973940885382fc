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
  if (withinTime(() => comparePatterns(json, { value, path }, at)) !== 'too-slow') return undefined;
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

interface Place {
  readonly value: unknown;
  readonly path: string;
}

/** What a part of the schema says of a part of the value. */
interface Pair extends Place {
  readonly schema: Json | undefined;
  /** References that led here without a step into the value; a circle of them has no end. */
  readonly references: number;
}

const REFERENCES_MAX = 16;

/** `at` tells which comparison is under way, for when it is stopped. Not recursive: the depth is the caller's to choose. */
function comparePatterns(root: JsonObject, whole: Place, at: { field: string; pattern: string }): void {
  const open: Pair[] = [{ schema: root, ...whole, references: 0 }];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const { schema, value, path } = pair;
    if (!isJsonObject(schema)) continue;
    if (typeof value === 'string' && typeof schema.pattern === 'string') {
      Object.assign(at, { field: path, pattern: schema.pattern });
      compare(schema.pattern, value);
    }
    open.push(...sameValue(root, { ...pair, schema }));
    if (Array.isArray(value)) open.push(...itemPairs(schema, value, path));
    else if (isJsonObject(value)) open.push(...propertyPairs(schema, value, path));
  }
}

function sameValue(root: JsonObject, { schema, ...place }: Pair & { readonly schema: JsonObject }): readonly Pair[] {
  const lists = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => (Array.isArray(list) ? list : []));
  const words = [...lists, schema.not, schema.if, schema.then, schema.else].map((one) => ({ ...place, schema: one }));
  const { $ref } = schema;
  if (typeof $ref !== 'string' || place.references >= REFERENCES_MAX) return words;
  return [...words, { ...place, schema: referred(root, $ref), references: place.references + 1 }];
}

/** What `#` or `#/$defs/name` stands for. */
function referred(root: JsonObject, ref: string): Json | undefined {
  const [base, ...steps] = ref.split('/');
  if (base !== '#') return undefined;
  return steps.reduce<Json | undefined>((at, step) => {
    const name = step.replace(/~1/g, '/').replace(/~0/g, '~');
    return isJsonObject(at) ? at[name] : undefined;
  }, root);
}

function itemPairs({ prefixItems, items, contains }: JsonObject, list: readonly unknown[], path: string): Pair[] {
  const first: readonly Json[] = Array.isArray(prefixItems) ? prefixItems : [];
  return list.flatMap((value, index) =>
    [first[index] ?? items, contains].map((schema) => ({ schema, value, path: `${path}[${index}]`, references: 0 })),
  );
}

function propertyPairs(schema: JsonObject, value: JsonObject, path: string): Pair[] {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const named = isJsonObject(schema.patternProperties) ? Object.entries(schema.patternProperties) : [];
  return Object.entries(value).flatMap(([name, item]) => {
    const own = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
    const place = { path: `${path}.${name}`, references: 0 };
    return [
      { ...place, schema: own, value: item },
      { ...place, schema: schema.propertyNames, value: name },
      ...named.flatMap(([pattern, property]) => [
        { ...place, schema: { pattern }, value: name },
        { ...place, schema: property, value: item },
      ]),
    ];
  });
}

/** JSON Schema does not tell an expression's flags, and with each it may take another time. */
const FLAGS = ['', 'i', 'm', 's', 'im', 'is', 'ms', 'ims'];

/** What comes of it is the library's to say. */
function compare(pattern: string, text: string): void {
  for (const flags of FLAGS) expression(pattern, flags)?.test(text);
}

/** Authors also write what only older syntax takes, such as `\-`, or only newer. */
function expression(pattern: string, flags: string): RegExp | undefined {
  for (const syntax of ['u', '', 'v']) {
    try {
      return new RegExp(pattern, flags + syntax);
    } catch {}
  }
  return undefined;
}
