import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeJournalValue, encodeJournalValue } from './codec.ts';

const beginning = 'Step "load" returned';

function roundTrip(value: unknown): unknown {
  return decodeJournalValue(encodeJournalValue(value, beginning));
}

class Client {
  readonly send = (): void => {};
}

describe('the journal codec', () => {
  test.each<[string, unknown]>([
    ['null', null],
    ['undefined', undefined],
    ['text with a lone surrogate', 'a\ud83d\0'],
    ['-0', -0],
    ['NaN', Number.NaN],
    ['infinity', [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]],
    ['bigint', { big: 12345678901234567890n }],
    ['a date', new Date(1_767_225_600_000)],
    ['an invalid date', [new Date(Number.NaN)]],
    ['a url', { at: new URL('https://example.com/a?b#c') }],
    ['bytes', Uint8Array.of(0, 255)],
    ['a map in a set in a map', new Map<unknown, unknown>([[{ k: 1 }, new Set([new Map([[1n, undefined]])])]])],
    ['an object that looks like a tag', { $: ['Date', 0] }],
    ['a tag that looks like an object', { $: ['object', { $: 1 }], other: new Date(0) }],
    ['undefined properties', { a: undefined, b: [undefined] }],
    ['text that looks like a tag', ['"$":', new Set(['{"$":["bigint","1"]}'])]],
  ])('keeps %s', (_name, value) => {
    expect(roundTrip(value)).toStrictEqual(value);
  });

  test('keeps plain JSON as plain JSON', () => {
    const value = { b: 1, a: ['x', null, true, { deep: 1.5 }] };
    expect(encodeJournalValue(value, beginning)).toBe(JSON.stringify(value));
  });

  test('keeps the order of keys, and a key named __proto__', () => {
    const value = JSON.parse('{"z":1,"__proto__":{"a":1},"a":2}') as object;
    const kept = roundTrip({ ...value, at: new Date(0) }) as object;
    expect(Object.keys(roundTrip(value) as object)).toEqual(['z', '__proto__', 'a']);
    expect(Object.getPrototypeOf(roundTrip(value))).toBe(Object.prototype);
    expect(Object.keys(kept)).toEqual(Object.keys({ ...value, at: 0 }));
    const dated = Object.defineProperty({}, '__proto__', { value: new Date(3), enumerable: true });
    expect(Object.getOwnPropertyDescriptor(roundTrip(dated), '__proto__')?.value).toEqual(new Date(3));
  });

  test('keeps what is shared as copies, and nothing of a Buffer but its bytes', () => {
    const shared = { n: 1 };
    expect(roundTrip([shared, shared])).toEqual([{ n: 1 }, { n: 1 }]);
    expect(roundTrip(Buffer.from('ab'))).toEqual(Uint8Array.of(97, 98));
    expect(roundTrip(Object.assign(Object.create(null), { a: 1 }))).toEqual({ a: 1 });
  });

  const cycle: Record<string, unknown> = {};
  cycle.self = { again: cycle };
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { in: deep(levels - 1) });
  test.each<[string, unknown, string]>([
    ['a function', { client: { send: () => 1 } }, 'a function at value.client.send.'],
    ['a class', [Client], 'a class at value[0].'],
    ['a symbol', { 'odd key': Symbol('x') }, 'a symbol at value["odd key"].'],
    ['a promise', { later: Promise.resolve(1) }, 'a promise at value.later.'],
    ['an instance', { client: new Client() }, 'an instance of Client at value.client.'],
    ['an error', [new TypeError('x')], 'an instance of TypeError at value[0].'],
    ['a cycle', cycle, 'an object that contains itself at value.self.again.'],
    ['a key of a map', new Map([[new WeakMap(), 1]]), 'an instance of WeakMap at value.entries[0].key.'],
    ['a value of a map', new Map([[1, () => 1]]), 'a function at value.entries[0].value.'],
    ['an item of a set', new Set([1, () => 1]), 'a function at value.values[1].'],
    ['a symbol as key', { [Symbol('x')]: 1 }, 'a property named by a symbol at value.'],
    ['too deep', deep(501), 'more than 500 levels of objects at value.in.in.'],
  ])('refuses %s, and names the place', (_name, value, text) => {
    const encode = (): string => encodeJournalValue(value, beginning);
    expect(encode).toThrow(`Step "load" returned ${text.split(' at ')[0]}`);
    expect(encode).toThrow(text.endsWith('in.') ? text.slice(0, -1) : text);
    expect(encode).toThrow(expect.objectContaining({ name: 'AgentCodeError', page: 'journal-value' }));
  });

  test('refuses more than a mebibyte, counted in bytes', () => {
    expect(encodeJournalValue('x'.repeat(1024 * 1024 - 2), beginning)).toHaveLength(1024 * 1024);
    expect(() => encodeJournalValue('x'.repeat(1024 * 1024), beginning)).toThrow('1048578 bytes');
    expect(() => encodeJournalValue('€'.repeat(400_000), beginning)).toThrow('1200002 bytes');
  });

  test('refuses a value of a newer version by its name', () => {
    expect(() => decodeJournalValue('{"$":["Temporal.Instant","x"]}')).toThrow('Temporal.Instant');
  });

  test('whatever is made of these parts comes back as it was', () => {
    const leaf = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double(),
      fc.bigInt(),
      fc.boolean(),
      fc.constant(null),
      fc.constant(undefined),
      fc.date({ noInvalidDate: false }),
      fc.uint8Array(),
      fc.webUrl().map((url) => new URL(url)),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, leaf, tie('list'), tie('object'), tie('map'), tie('set')),
      list: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('$', '__proto__', '1', 'a')), tie('value'), {
        maxKeys: 4,
      }),
      map: fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 3 }).map((pairs) => new Map(pairs)),
      set: fc.array(tie('value'), { maxLength: 3 }).map((items) => new Set(items)),
    }));
    fc.assert(
      fc.property(value, (given) => {
        const plain = normal(given);
        expect(roundTrip(given)).toStrictEqual(plain);
        expect(Object.is(roundTrip(given), given) || typeof given !== 'number').toBe(true);
      }),
      { numRuns: 2_000, seed: 7 },
    );
  });
});

/** The same with ordinary prototypes: a dictionary of fast-check may have none. */
function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normal);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [normal(key), normal(item)]));
  if (value instanceof Set) return new Set([...value].map(normal));
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date || value instanceof URL || value instanceof Uint8Array) return value;
  const plain = {};
  for (const [key, item] of Object.entries(value)) {
    Object.defineProperty(plain, key, { value: normal(item), enumerable: true, configurable: true, writable: true });
  }
  return plain;
}
