import type { FieldViolation } from '../base/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { withinTime } from '../base/within-time.ts';

/*
 * The flat JSON Schema subset that MCP elicitation uses: a primitive (string, number, integer, boolean, enum), or an
 * object whose properties are primitives. What lies outside the subset is not judged here; the handler's own schema
 * has the last word when the turn goes on.
 */

/** What is wrong with `value`, each with its path; empty when it fits. */
export function checkFlat(schema: JsonObject, value: Json, path: string): readonly FieldViolation[] {
  const properties = schema.properties;
  if (schema.type !== 'object' || !isJsonObject(properties)) return checkPrimitive(schema, value, path);
  if (!isJsonObject(value)) return [{ field: path, description: 'must be an object' }];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).flatMap(([name, property]) => {
    const field = `${path}.${name}`;
    if (!Object.hasOwn(value, name)) return required.includes(name) ? [{ field, description: 'is required' }] : [];
    return isJsonObject(property) ? checkPrimitive(property, value[name] as Json, field) : [];
  });
}

/** The value a line of text stands for under a primitive schema, or under an object with one property; undefined when text cannot say it. */
export function coerceText(schema: JsonObject, text: string): Json | undefined {
  const target = textTarget(schema);
  if (target === undefined) return undefined;
  const value = coercePrimitive(target.schema, text);
  return value === undefined || target.property === undefined ? value : { [target.property]: value };
}

/** Why a text is no value of the schema; empty when it is one. */
export function checkText(schema: JsonObject, text: string): readonly FieldViolation[] {
  const target = textTarget(schema);
  const field = target?.property ?? 'answer';
  if (target === undefined) return [{ field, description: `needs a data part with ${fieldWords(schema)}` }];
  const value = coercePrimitive(target.schema, text);
  if (value !== undefined) return checkPrimitive(target.schema, value, field);
  const violations = checkPrimitive(target.schema, text, field);
  return violations.length > 0 ? violations : [{ field, description: 'needs a data part' }];
}

/** What a line of text is taken for: the whole of a primitive schema, or the one property that an object must have. */
export function textTarget(
  schema: JsonObject,
): { readonly schema: JsonObject; readonly property?: string } | undefined {
  const properties = schema.properties;
  if (schema.type !== 'object' || !isJsonObject(properties)) return { schema };
  const names = Object.keys(properties);
  const required = Array.isArray(schema.required) ? schema.required : [];
  const name = names.length === 1 ? names[0] : required.length === 1 ? required[0] : undefined;
  const property = typeof name === 'string' ? properties[name] : undefined;
  return typeof name === 'string' && isJsonObject(property) ? { schema: property, property: name } : undefined;
}

/** The properties of an object: `people (whole number), note (text, optional)`. */
function fieldWords(schema: JsonObject): string {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  return Object.entries(properties)
    .map(([name, property]) => {
      const kind = kindWord(property);
      return `${name} (${required.includes(name) ? kind : `${kind}, optional`})`;
    })
    .join(', ');
}

/** What kind of value a primitive schema wants, in words. */
export function kindWord(schema: Json | undefined): string {
  if (!isJsonObject(schema)) return 'any value';
  if (Array.isArray(schema.enum)) return schema.enum.map((option) => JSON.stringify(option)).join(' | ');
  switch (schema.type) {
    case 'integer':
      return 'whole number';
    case 'number':
      return 'number';
    case 'boolean':
      return 'true | false';
    case 'string':
      return 'text';
    default:
      return 'any value';
  }
}

function coercePrimitive(schema: JsonObject, text: string): Json | undefined {
  const trimmed = text.trim();
  if (Array.isArray(schema.enum)) {
    const same = (option: Json): boolean => String(option) === trimmed;
    const alike = (option: Json): boolean => String(option).toLowerCase() === trimmed.toLowerCase();
    return schema.enum.find(same) ?? schema.enum.find(alike);
  }
  switch (schema.type) {
    case 'number':
    case 'integer':
      return trimmed !== '' && Number.isFinite(Number(trimmed)) ? Number(trimmed) : undefined;
    case 'boolean':
      return /^(true|yes|y)$/i.test(trimmed) ? true : /^(false|no|n)$/i.test(trimmed) ? false : undefined;
    case 'string':
      return text;
    default:
      return undefined;
  }
}

function checkPrimitive(schema: JsonObject, value: Json, field: string): readonly FieldViolation[] {
  const options = schema.enum;
  if (Array.isArray(options)) {
    return options.includes(value)
      ? []
      : [{ field, description: `must be one of ${options.map((option) => JSON.stringify(option)).join(', ')}` }];
  }
  if ('const' in schema)
    return schema.const === value ? [] : [{ field, description: `must be ${JSON.stringify(schema.const)}` }];
  switch (schema.type) {
    case 'string':
      return typeof value === 'string' ? checkString(schema, value, field) : [{ field, description: 'must be text' }];
    case 'number':
    case 'integer':
      return checkNumber(schema, value, field);
    case 'boolean':
      return typeof value === 'boolean' ? [] : [{ field, description: 'must be true or false' }];
    default:
      return [];
  }
}

function checkString(schema: JsonObject, value: string, field: string): readonly FieldViolation[] {
  const { minLength, maxLength, pattern, format } = schema;
  const found: FieldViolation[] = [];
  // JSON Schema counts characters, not the UTF-16 units that `length` gives.
  const isShort = typeof minLength === 'number' && [...value].length < minLength;
  if (isShort) found.push({ field, description: `must have at least ${minLength} characters` });
  if (typeof maxLength === 'number' && [...value].length > maxLength)
    found.push({ field, description: `must have at most ${maxLength} characters` });
  if (typeof pattern === 'string') found.push(...checkPattern(pattern, value, field));
  if (typeof format === 'string' && !hasFormat(format, value))
    found.push({ field, description: `must be a valid ${format}` });
  return found;
}

/** The pattern is the author's; one that does not compile is not held against the caller. */
function checkPattern(pattern: string, value: string, field: string): readonly FieldViolation[] {
  try {
    const compared = withinTime(() => new RegExp(pattern, 'u').test(value));
    if (compared === 'too-slow') return [{ field, description: `is too intricate for ${pattern}` }];
    return compared.result ? [] : [{ field, description: `must match ${pattern}` }];
  } catch {
    return [];
  }
}

/** No address is longer (RFC 3696); the expression takes time with the square of the length, which is a caller's to choose. */
const EMAIL_CHARS_MAX = 320;

function hasFormat(format: string, value: string): boolean {
  switch (format) {
    case 'email':
      return value.length <= EMAIL_CHARS_MAX && /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value);
    case 'uri':
      return URL.canParse(value);
    case 'date':
      return /^\d{4}-\d{2}-\d{2}$/.test(value) && isDay(value);
    case 'date-time':
      return /^\d{4}-\d{2}-\d{2}T/.test(value) && isDay(value.slice(0, 10)) && !Number.isNaN(Date.parse(value));
    default:
      return true;
  }
}

/** The parser of dates takes the 31st of February for a day in March. */
function isDay(text: string): boolean {
  const at = Date.parse(text);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

function checkNumber(schema: JsonObject, value: Json, field: string): readonly FieldViolation[] {
  if (typeof value !== 'number') return [{ field, description: 'must be a number' }];
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const found: FieldViolation[] = [];
  if (schema.type === 'integer' && !Number.isInteger(value))
    found.push({ field, description: 'must be a whole number' });
  if (typeof minimum === 'number' && value < minimum) found.push({ field, description: `must be at least ${minimum}` });
  if (typeof maximum === 'number' && value > maximum) found.push({ field, description: `must be at most ${maximum}` });
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum)
    found.push({ field, description: `must be more than ${exclusiveMinimum}` });
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum)
    found.push({ field, description: `must be less than ${exclusiveMaximum}` });
  return found;
}
