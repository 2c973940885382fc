import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json, JsonObject } from '../base/json.ts';
import { checkFlat, coerceText } from './flat-schema.ts';

const fits = (schema: JsonObject, value: Json): boolean => checkFlat(schema, value, 'answer').length === 0;
const faults = (schema: JsonObject, value: Json) => checkFlat(schema, value, 'answer');

describe('a value under a flat schema', () => {
  test.each<[JsonObject, readonly Json[], readonly Json[]]>([
    [{ type: 'string' }, ['', 'x'], [1, true, null, [], {}]],
    [{ type: 'string', minLength: 2, maxLength: 3 }, ['ab', 'abc', '😀😀', '😀😀😀'], ['a', 'abcd', '😀']],
    [{ type: 'string', pattern: '^[A-Z]\\d+$' }, ['A1'], ['a1', 'A1 ']],
    [{ type: 'string', pattern: '(' }, ['anything'], []],
    [{ type: 'string', format: 'email' }, ['a@b.example'], ['a@b', 'a b@c.example']],
    [{ type: 'string', format: 'uri' }, ['https://a.example/x'], ['nowhere']],
    [{ type: 'string', format: 'date' }, ['2026-02-28', '2028-02-29'], ['2026-02-29', '2026-13-01', '2026-2-1']],
    [
      { type: 'string', format: 'date-time' },
      ['2026-02-28T10:00:00Z'],
      ['2026-02-28', '2026-02-31T10:00:00Z', '2026-02-28T25:00:00Z'],
    ],
    [{ type: 'string', format: 'unheard-of' }, ['x'], []],
    [{ type: 'number' }, [0, -1.5], ['1', null]],
    [{ type: 'number', minimum: 1, maximum: 2 }, [1, 2], [0.9, 2.1]],
    [{ type: 'number', exclusiveMinimum: 1, exclusiveMaximum: 2 }, [1.5], [1, 2]],
    [{ type: 'integer' }, [3, -3, 3.0], [3.5, '3']],
    [{ type: 'boolean' }, [true, false], ['true', 0, null]],
    [{ type: 'string', enum: ['a', 'b'] }, ['a'], ['c', 1]],
    [{ enum: [1, 'one', null] }, [1, 'one', null], ['1', 2]],
    [{ type: 'string', const: 'yes' }, ['yes'], ['no']],
    [{}, ['anything', 1, null, []], []],
  ])('%o', (schema, good, bad) => {
    for (const value of good) expect([value, faults(schema, value)]).toEqual([value, []]);
    for (const value of bad) expect([value, fits(schema, value)]).toEqual([value, false]);
  });

  test('an object is checked property by property, each fault by its path', () => {
    const schema = {
      type: 'object',
      properties: { reason: { type: 'string', enum: ['late', 'lost'] }, count: { type: 'integer' } },
      required: ['reason'],
    };
    expect(faults(schema, { reason: 'late' })).toEqual([]);
    expect(faults(schema, { reason: 'bored', count: 1.5 })).toEqual([
      { field: 'answer.reason', description: 'must be one of "late", "lost"' },
      { field: 'answer.count', description: 'must be a whole number' },
    ]);
    expect(faults(schema, {})).toEqual([{ field: 'answer.reason', description: 'is required' }]);
    for (const value of ['late', null, ['late']])
      expect(faults(schema, value)).toEqual([{ field: 'answer', description: 'must be an object' }]);
  });

  test('a text that would hold its pattern for hours is refused', () => {
    const schema = { type: 'object', properties: { code: { type: 'string', pattern: '^(a+)+$' } } };
    expect(faults(schema, { code: `${'a'.repeat(60)}!` })).toEqual([
      { field: 'answer.code', description: 'is too intricate for ^(a+)+$' },
    ]);
  });

  test('a text of a megabyte is no address, and costs nothing to refuse', () => {
    const schema = { type: 'string', format: 'email' };
    expect(fits(schema, `a@${'.'.repeat(1024 * 1024)}@`)).toBe(false);
    expect(fits(schema, `${'a'.repeat(64)}@${'b'.repeat(200)}.example`)).toBe(true);
  });

  test('a property that only the prototype has is not there', () => {
    const schema = { type: 'object', properties: { toString: { type: 'string' } }, required: ['toString'] };
    expect(faults(schema, {})).toEqual([{ field: 'answer.toString', description: 'is required' }]);
  });
});

describe('text under a flat schema', () => {
  const reads: readonly [JsonObject, string, Json | undefined][] = [
    [{ type: 'number' }, ' 1.5 ', 1.5],
    [{ type: 'integer' }, '7', 7],
    [{ type: 'number' }, '', undefined],
    [{ type: 'number' }, 'Infinity', undefined],
    [{ type: 'number' }, '7 apples', undefined],
    [{ type: 'boolean' }, 'Yes', true],
    [{ type: 'boolean' }, 'n', false],
    [{ type: 'boolean' }, 'perhaps', undefined],
    [{ type: 'string' }, ' as it is ', ' as it is '],
    [{ enum: ['Late', 'Lost'] }, ' late ', 'Late'],
    [{ enum: ['a', 'A'] }, 'A', 'A'],
    [{ enum: [1, 2] }, '2', 2],
    [{ enum: ['a'] }, 'b', undefined],
    [{ type: 'object', properties: { count: { type: 'integer' } } }, '3', { count: 3 }],
    [
      { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['b'] },
      'x',
      { b: 'x' },
    ],
    [{ type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } }, 'x', undefined],
    [{ type: 'object', properties: { a: { type: 'number' } } }, 'x', undefined],
    [{ type: 'array' }, '[]', undefined],
    [{}, 'x', undefined],
  ];
  test.each(reads)('%o reads %j as %j', (schema, text, value) => {
    expect(coerceText(schema, text)).toEqual(value);
  });
});

const bound = fc.integer({ min: -5, max: 5 });
const primitives: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ type: fc.constant('string'), minLength: fc.nat(4), maxLength: fc.nat(4) }, { requiredKeys: ['type'] }),
  fc.record({ type: fc.constant('string'), pattern: fc.constantFrom('^a', 'b$', '^[a-c]+$') }),
  fc.record({ type: fc.constantFrom('number', 'integer'), minimum: bound, maximum: bound }, { requiredKeys: ['type'] }),
  fc.record({ type: fc.constant('number'), exclusiveMinimum: bound, exclusiveMaximum: bound }),
  fc.record({ type: fc.constant('boolean') }),
  fc.record({ type: fc.constant('string'), enum: fc.uniqueArray(fc.constantFrom('a', 'b', 'abc'), { minLength: 1 }) }),
  fc.record({ enum: fc.uniqueArray(fc.constantFrom<Json>('a', 1, true), { minLength: 1 }) }),
  fc.record({ const: fc.constantFrom<Json>('a', 1, false, null) }),
);
const schemas: fc.Arbitrary<JsonObject> = fc.oneof(
  primitives,
  fc
    .tuple(fc.dictionary(fc.constantFrom('a', 'b', 'c'), primitives, { maxKeys: 3 }), fc.subarray(['a', 'b', 'c']))
    .map(([properties, required]) => ({
      type: 'object',
      properties,
      required: required.filter((name) => Object.hasOwn(properties, name)),
    })),
);
const scalars: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>('a', 'b', 'abc', 'ab', '', 1, 0, -5, 1.5, true, false, null),
  fc.string({ unit: fc.constantFrom('a', 'b', 'x'), maxLength: 5 }),
  fc.integer({ min: -7, max: 7 }),
);
const values: fc.Arbitrary<Json> = fc.oneof(
  scalars,
  fc.array(scalars, { maxLength: 2 }),
  fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), scalars, { maxKeys: 4 }),
);

test('a JSON Schema reader of another make accepts the same values', () => {
  let accepted = 0;
  fc.assert(
    fc.property(schemas, values, (schema, value) => {
      const theirs = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(value).success;
      if (theirs) accepted += 1;
      expect(fits(schema, value)).toBe(theirs);
    }),
    { numRuns: 1_500 },
  );
  expect(accepted).toBeGreaterThan(60);
});

test('text that says a value reads as that value', () => {
  fc.assert(
    fc.property(primitives, scalars, (schema, value) => {
      fc.pre(fits(schema, value) && ('type' in schema || 'enum' in schema));
      expect(coerceText(schema, String(value))).toEqual(value);
    }),
    { numRuns: 1_000 },
  );
});
