import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, isJsonObject, type Json, jsonShape } from './json.ts';

const json = fc.jsonValue() as fc.Arbitrary<Json>;

function depthOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map((inner) => depthOf(inner as Json)));
}

/** The same value with the keys of every object in reverse. */
function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => reversed(item as Json));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
}

test('the depth of a text is the depth of the value it stands for', () => {
  fc.assert(
    fc.property(json, fc.constantFrom(0, 2), (value, indent) => {
      expect(jsonShape(JSON.stringify(value, null, indent)).depth).toBe(depthOf(value));
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['""', 0],
  ['"[[[["', 0],
  ['"\\"[["', 0],
  ['"\\\\"', 0],
  ['["\\\\",[]]', 2],
  ['{"a[":{"\\"":[1]}}', 3],
  ['[', 1],
  ['[[', 2],
  ['"never closed [[', 0],
  ['', 0],
])('%j is %i deep', (text, depth) => {
  expect(jsonShape(text).depth).toBe(depth);
});

test('brackets without end cost no stack', () => {
  expect(jsonShape('['.repeat(2_000_000)).depth).toBe(2_000_000);
});

test('equal values have one canonical text, whatever the order of their keys', () => {
  fc.assert(
    fc.property(json, (value) => {
      const text = canonicalJson(value);
      expect(canonicalJson(reversed(value))).toBe(text);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
    { numRuns: 500 },
  );
});

test('values that differ have canonical texts that differ', () => {
  const plain = (value: Json): unknown => JSON.parse(JSON.stringify(value));
  fc.assert(
    fc.property(json, json, (a, b) => {
      if (canonicalJson(a) === canonicalJson(b)) expect(plain(a)).toEqual(plain(b));
    }),
  );
  expect(canonicalJson({ a: [1, 2] })).not.toBe(canonicalJson({ a: [2, 1] }));
  expect(canonicalJson({ b: 1, a: null })).toBe('{"a":null,"b":1}');
});

test.each([
  ['[1,2,3]', 3],
  ['{"a":1,"b":[1,2]}', 3],
  ['"a,b,c"', 1],
  ['{}', 1],
] as const)('%s holds about %i values', (text, values) => {
  expect(jsonShape(text).values).toBe(values);
});
