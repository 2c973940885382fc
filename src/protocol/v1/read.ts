import type { Instant } from '../../base/clock.ts';
import { fieldError } from '../../base/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { idFault } from '../../model/ids.ts';
import { quoted } from '../quoted.ts';
import { decodeBase64, decodedBytesMax } from './base64.ts';
import { Problems } from './problems.ts';
import { parseTimestamp } from './timestamp.ts';

const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;
const JSON_NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;
/** What a violation of the request as a whole names, since it has no field. */
const WHOLE_REQUEST = 'request';

/** Reads one request. `undefined` (no params, no body) is an empty one. Throws InvalidParams that names every faulty field. */
export function decodeWith<T>(json: unknown, read: (reader: ObjectReader) => T): T {
  const request = json === undefined ? {} : json;
  if (!isJsonObject(request)) throw fieldError(WHOLE_REQUEST, `must be an object, not ${kindOf(request)}`);
  const problems = new Problems();
  const value = read(new ObjectReader(request, problems));
  problems.throwIfAny();
  return value;
}

interface ItemCount {
  readonly min?: number;
  readonly max: number;
}

/**
 * Reads the fields of one JSON object as ProtoJSON does: camelCase and snake_case names (not both), null is absent,
 * unknown fields are not looked at, and the default of a field without presence ('', 0, false) is absent too.
 *
 * A wrong field is noted under its path, and a stand-in is returned. Paths are put together only when they are needed.
 */
export class ObjectReader {
  readonly #json: JsonObject;
  readonly #problems: Problems;
  readonly #parent: ObjectReader | undefined;
  readonly #name: string;
  readonly #index: number;
  /** Few callers write snake_case: one look at the names saves a second look-up for every field. */
  readonly #mayBeSnake: boolean;

  constructor(
    json: JsonObject,
    problems: Problems,
    place?: { readonly parent: ObjectReader; readonly name: string; readonly index?: number },
  ) {
    this.#json = json;
    this.#mayBeSnake = hasSnakeName(json);
    this.#problems = problems;
    this.#parent = place?.parent;
    this.#name = place?.name ?? '';
    this.#index = place?.index ?? -1;
  }

  /** `message.parts[0].raw`; without a name the place of this object itself. */
  path(name?: string): string {
    const above = this.#parent?.path() ?? '';
    const own = this.#index < 0 ? this.#name : `${this.#name}[${this.#index}]`;
    return [above, own, name ?? ''].filter((step) => step !== '').join('.');
  }

  problem(name: string, description: string): void {
    this.#problems.add(this.path(name), description);
  }

  /** Notes a problem with this object itself. */
  problemHere(description: string): void {
    this.#problems.add(this.path(), description);
  }

  /** Whether the field was given, right or wrong. Null is not given. */
  has(name: string): boolean {
    return this.#json[name] != null || (this.#mayBeSnake && this.#json[snakeOf(name)] != null);
  }

  /** Whether the field was given, counting null: for a field whose null is a value. */
  hasOrNull(name: string): boolean {
    return this.#json[name] !== undefined || (this.#mayBeSnake && this.#json[snakeOf(name)] !== undefined);
  }

  /** Undefined when absent, null or empty. */
  string(name: string): string | undefined {
    const text = this.text(name);
    return text === '' ? undefined : text;
  }

  /** Undefined when absent or null; an empty text was said. */
  text(name: string): string | undefined {
    const value = this.#take(name);
    if (value === undefined || typeof value === 'string') return value;
    this.problem(name, `must be a string, not ${kindOf(value)}`);
    return undefined;
  }

  /** An id that a client chose, or undefined when absent, null or empty. */
  id<Id extends string>(name: string): Id | undefined {
    const text = this.string(name);
    const fault = text === undefined ? undefined : idFault(text);
    if (fault === undefined) return text as Id | undefined;
    this.problem(name, fault);
    return undefined;
  }

  /** Like `id`, and absent, null or empty is a problem. */
  requiredId<Id extends string>(name: string): Id {
    const text = this.requiredText(name);
    const fault = text === undefined ? undefined : idFault(text);
    if (fault !== undefined) this.problem(name, fault);
    return (text ?? '') as Id;
  }

  /** Undefined after a problem. */
  requiredText(name: string): string | undefined {
    if (!this.has(name)) this.problem(name, 'is required');
    return this.text(name);
  }

  /** As it came, for a field with rules of its own; undefined when absent or null. */
  any(name: string): unknown {
    return this.#take(name);
  }

  bool(name: string): boolean | undefined {
    const value = this.#take(name);
    if (value === undefined || typeof value === 'boolean') return value;
    this.problem(name, `must be true or false, not ${kindOf(value)}`);
    return undefined;
  }

  /** A whole number, also written `"10"`, `10.0` or `1e1`, within the range. */
  int32(name: string, range: { readonly min?: number; readonly max?: number } = {}): number | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    const number = typeof value === 'string' && JSON_NUMBER.test(value) ? Number(value) : value;
    const min = range.min ?? INT32_MIN;
    const max = range.max ?? INT32_MAX;
    if (typeof number !== 'number' || !Number.isInteger(number)) {
      this.problem(
        name,
        `must be a whole number, not ${typeof value === 'object' ? kindOf(value) : quoted(String(value))}`,
      );
    } else if (number < min || number > max) this.problem(name, `must be from ${min} to ${max}, not ${number}`);
    else return number + 0;
    return undefined;
  }

  /** The name of an enum value that was given by name or by number; undefined when absent. */
  enumName(name: string, names: readonly string[]): string | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    const found = typeof value === 'number' ? names[value] : names.find((known) => known === value);
    if (found === undefined) {
      const given = typeof value === 'string' ? quoted(value) : typeof value === 'number' ? value : kindOf(value);
      this.problem(name, `must be one of ${names.slice(1).join(', ')}, not ${given}`);
    }
    return found;
  }

  timestamp(name: string): Instant | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const at = parseTimestamp(text);
    if (at === undefined) this.problem(name, `must be a time such as 2026-01-31T12:00:00.000Z, not ${quoted(text)}`);
    return at;
  }

  bytes(name: string, bytesMax: number): Uint8Array | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const bytes = decodedBytesMax(text) > 2 * bytesMax ? 'too many' : decodeBase64(text);
    if (bytes === undefined) this.problem(name, 'must be base64');
    else if (bytes === 'too many' || bytes.length > bytesMax) {
      this.problem(name, `must have at most ${bytesMax} bytes when decoded; send larger content by url`);
    } else return bytes;
    return undefined;
  }

  /** A nested message, or undefined when absent. */
  object(name: string): ObjectReader | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    if (isJsonObject(value)) return new ObjectReader(value, this.#problems, { parent: this, name });
    this.problem(name, `must be an object, not ${kindOf(value)}`);
    return undefined;
  }

  objects(name: string, count: ItemCount): readonly ObjectReader[] {
    const readers: ObjectReader[] = [];
    this.#items(name, count).forEach((item, index) => {
      if (isJsonObject(item)) readers.push(new ObjectReader(item, this.#problems, { parent: this, name, index }));
      else this.problem(`${name}[${index}]`, `must be an object, not ${kindOf(item)}`);
    });
    return readers;
  }

  strings(name: string, count: ItemCount): readonly string[] {
    return this.#items(name, count).map((item, index) => {
      if (typeof item === 'string') return item;
      this.problem(`${name}[${index}]`, `must be a string, not ${kindOf(item)}`);
      return '';
    });
  }

  ids(name: string, count: ItemCount): readonly string[] {
    return this.#items(name, count).map((item, index) => {
      const fault = typeof item === 'string' ? idFault(item) : `must be a string, not ${kindOf(item)}`;
      if (fault !== undefined) this.problem(`${name}[${index}]`, fault);
      return item as string;
    });
  }

  struct(name: string): JsonObject | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    if (!isJsonObject(value)) this.problem(name, `must be an object, not ${kindOf(value)}`);
    else if (this.#isCarried(name, value)) return value;
    return undefined;
  }

  /** Any JSON value; null is one. Undefined when the field is absent. */
  value(name: string): Json | undefined {
    const value = (this.#take(name) ?? (this.hasOrNull(name) ? null : undefined)) as Json | undefined;
    return value === undefined || this.#isCarried(name, value) ? value : undefined;
  }

  /** `JSON.parse` makes 1e400 an infinity, which could only be written again as null. */
  #isCarried(name: string, value: Json): boolean {
    const fault = jsonFault(value, limits.jsonDepthMax);
    if (fault !== undefined) this.problem(name, fault);
    return fault === undefined;
  }

  #items(name: string, { min = 0, max }: ItemCount): readonly unknown[] {
    const given = this.has(name);
    const value = this.#take(name);
    if (!given || (Array.isArray(value) && value.length < min)) {
      if (min > 0) this.problem(name, min === 1 ? 'at least one is required' : `at least ${min} are required`);
    } else if (value === undefined) return [];
    else if (!Array.isArray(value)) this.problem(name, `must be an array, not ${kindOf(value)}`);
    else if (value.length > max) this.problem(name, `must have at most ${max} items, not ${value.length}`);
    else return value;
    return [];
  }

  #take(name: string): unknown {
    const value = this.#json[name];
    if (!this.#mayBeSnake) return value ?? undefined;
    const snake = snakeOf(name);
    const other = snake === name ? undefined : this.#json[snake];
    if (other === undefined) return value ?? undefined;
    if (value === undefined) return other ?? undefined;
    this.problem(name, `is given twice, as ${name} and as ${snake}`);
    return undefined;
  }
}

function hasSnakeName(json: JsonObject): boolean {
  for (const name in json) if (name.includes('_')) return true;
  return false;
}

const snakeNames = new Map<string, string>();

/** `contextId` → `context_id`. Field names come from our own code, so the map stays as small as the protocol. */
export function snakeOf(name: string): string {
  let snake = snakeNames.get(name);
  if (snake === undefined) {
    snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    snakeNames.set(name, snake);
  }
  return snake;
}

function jsonFault(value: Json, depthMax: number): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'holds a number that is too large';
  if (typeof value !== 'object' || value === null) return undefined;
  if (depthMax === 0) return `must not be nested deeper than ${limits.jsonDepthMax} levels`;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    const fault = jsonFault(item, depthMax - 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** What a wrong value is, with its article. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
