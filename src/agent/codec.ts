import { limits } from '../base/limits.ts';
import { AgentCodeError } from './errors.ts';

/** `{"$":["Date",0]}`: what JSON has no word for is an object whose only key is this one. */
const TAG = '$';
/** Deeper values are a mistake, or a cycle in disguise; our own recursion must not overflow on them. */
const DEPTH_MAX = 500;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/**
 * The text under which the journal keeps a value: JSON, and Date, Map, Set, bigint, bytes, URL, undefined, -0, NaN and
 * the infinities. Functions, symbols, promises, class instances and cycles are refused, and so is more than 1 MiB;
 * `beginning` begins the error's sentence, which names the path: `Step "load" returned a function at value.client.send`.
 */
export function encodeJournalValue(value: unknown, beginning: string): string {
  const text = write(value, { beginning, path: 'value', ancestors: [] });
  const bytes = text.length * 3 > limits.journalValueBytesMax ? Buffer.byteLength(text) : 0;
  if (bytes > limits.journalValueBytesMax) {
    throw new AgentCodeError(
      'journal-value',
      `${beginning} ${bytes} bytes; the journal keeps at most ${limits.journalValueBytesMax} of one value. Keep large data elsewhere and return its address.`,
    );
  }
  return text;
}

/** The value of a text that `encodeJournalValue` made. */
export function decodeJournalValue(text: string): unknown {
  const json: unknown = JSON.parse(text);
  return text.includes(`"${TAG}":`) ? revive(json) : json;
}

interface Place {
  readonly beginning: string;
  readonly path: string;
  /** The objects that this place lies in; one that comes again is a cycle. */
  readonly ancestors: object[];
}

function write(value: unknown, place: Place): string {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? String(value) : tagged('number', numberName(value));
    case 'undefined':
      return tagged('undefined');
    case 'bigint':
      return tagged('bigint', String(value));
    case 'function':
      return refuse(place, isClass(value) ? 'a class' : 'a function');
    case 'symbol':
      return refuse(place, 'a symbol');
    default:
      return value === null ? 'null' : writeObject(value as object, place);
  }
}

function numberName(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

function isClass(value: unknown): boolean {
  return Function.prototype.toString.call(value).startsWith('class');
}

function tagged(name: string, ...content: readonly (string | number | null)[]): string {
  return `{"${TAG}":${JSON.stringify([name, ...content])}}`;
}

function writeObject(value: object, place: Place): string {
  const leaf = writeLeaf(value);
  if (leaf !== undefined) return leaf;
  if (place.ancestors.includes(value)) return refuse(place, 'an object that contains itself');
  if (place.ancestors.length >= DEPTH_MAX) return refuse(place, `more than ${DEPTH_MAX} levels of objects`);
  place.ancestors.push(value);
  const text = writeContainer(value, place);
  place.ancestors.pop();
  return text;
}

function writeLeaf(value: object): string | undefined {
  if (value instanceof Date) return tagged('Date', Number.isNaN(value.getTime()) ? null : value.getTime());
  if (value instanceof URL) return tagged('URL', value.href);
  if (value instanceof Uint8Array) return tagged('bytes', base64Of(value));
  return undefined;
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function writeContainer(value: object, place: Place): string {
  if (Array.isArray(value)) return `[${writeList(value, place, '')}]`;
  if (value instanceof Map) {
    const pairs = [...value].map(([key, item], index) => {
      const at = `${place.path}.entries[${index}]`;
      return `[${write(key, { ...place, path: `${at}.key` })},${write(item, { ...place, path: `${at}.value` })}]`;
    });
    return `{"${TAG}":["Map",[${pairs.join(',')}]]}`;
  }
  if (value instanceof Set) return `{"${TAG}":["Set",[${writeList([...value], place, '.values')}]]}`;
  if (!isPlain(value)) return refuse(place, nameOf(value));
  return writePlain(value as Readonly<Record<string, unknown>>, place);
}

function writeList(values: readonly unknown[], place: Place, through: string): string {
  const items: string[] = [];
  for (let index = 0; index < values.length; index += 1) {
    items.push(write(values[index], { ...place, path: `${place.path}${through}[${index}]` }));
  }
  return items.join(',');
}

function writePlain(value: Readonly<Record<string, unknown>>, place: Place): string {
  if (Object.getOwnPropertySymbols(value).length > 0) return refuse(place, 'a property named by a symbol');
  const fields = Object.keys(value).map((key) => {
    const path = IDENTIFIER.test(key) ? `${place.path}.${key}` : `${place.path}[${JSON.stringify(key)}]`;
    return `${JSON.stringify(key)}:${write(value[key], { ...place, path })}`;
  });
  const text = `{${fields.join(',')}}`;
  return Object.hasOwn(value, TAG) ? `{"${TAG}":["object",${text}]}` : text;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: object): string {
  if (typeof (value as { then?: unknown }).then === 'function') return 'a promise';
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? `an instance of ${name}` : 'an instance of a class';
}

function refuse(place: Place, what: string): never {
  throw new AgentCodeError(
    'journal-value',
    `${place.beginning} ${what} at ${place.path}. The journal keeps JSON and Date, Map, Set, bigint, bytes, URL and undefined.`,
  );
}

/** Puts back what tags stand for, in place: the parsed tree is ours alone. */
function revive(json: unknown): unknown {
  if (typeof json !== 'object' || json === null) return json;
  if (Array.isArray(json)) {
    for (let index = 0; index < json.length; index += 1) json[index] = revive(json[index]);
    return json;
  }
  return Object.hasOwn(json, TAG) ? untagged((json as { [TAG]: readonly unknown[] })[TAG]) : reviveFields(json);
}

function reviveFields(json: object): object {
  for (const [key, value] of Object.entries(json)) {
    const revived = revive(value);
    // A plain assignment to `__proto__` would set the prototype instead.
    if (revived !== value) {
      Object.defineProperty(json, key, { value: revived, enumerable: true, configurable: true, writable: true });
    }
  }
  return json;
}

function untagged([name, content]: readonly unknown[]): unknown {
  switch (name) {
    case 'undefined':
      return undefined;
    case 'number':
      return Number(content);
    case 'bigint':
      return BigInt(content as string);
    case 'Date':
      return new Date(content === null ? Number.NaN : (content as number));
    case 'URL':
      return new URL(content as string);
    case 'bytes':
      return Uint8Array.from(Buffer.from(content as string, 'base64'));
    case 'Map':
      return new Map((revive(content) as [unknown, unknown][]).map(([key, value]) => [key, value]));
    case 'Set':
      return new Set(revive(content) as unknown[]);
    case 'object':
      return reviveFields(content as object);
    default:
      throw new RangeError(`the journal holds a value of a kind this version does not know: ${String(name)}`);
  }
}
