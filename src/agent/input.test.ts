import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { CodedError } from '../base/errors.ts';
import type { Json } from '../base/json.ts';
import type { MessageId } from '../model/ids.ts';
import type { Message, Part } from '../model/message.ts';
import { defineAgent } from './define-agent.ts';
import { skill } from './definition.ts';
import { readInput } from './input.ts';
import type { Schema } from './schema.ts';

const Refund = z.object({ order: z.string().regex(/^[A-Z]\d+$/), cents: z.int().positive() });

function reading(input: Schema | undefined, ...parts: readonly Part[]): Promise<unknown> {
  const refund = skill({ description: 'x', input, run: () => 'done' } as Parameters<typeof skill>[0]);
  const agent = defineAgent({ name: 'support', description: 'x', skills: { refund } });
  const message: Message = { messageId: 'm1' as MessageId, role: 'user', parts };
  return readInput(agent, 'refund', message);
}
const text = (words: string): Part => ({ kind: 'text', text: words });
const data = (value: Json): Part => ({ kind: 'data', data: value });

describe('the input is', () => {
  const order = { order: 'A1', cents: 5 };
  test.each<[string, Schema | undefined, readonly Part[], unknown]>([
    ['the text where there is no schema', undefined, [text('a'), data(1), text('b')], 'a\nb'],
    ['the first data part', Refund, [text('please'), data(order), data(1)], order],
    ['the input of an envelope', Refund, [data({ skill: 'refund', input: order })], order],
    [
      'data that only looks like an envelope',
      z.object({ skill: z.string() }),
      [data({ skill: 'go' })],
      { skill: 'go' },
    ],
    ['JSON in the text', Refund, [text(JSON.stringify(order))], order],
    ['the text where the schema wants text', z.string(), [text('{"a":1}')], '{"a":1}'],
    ['the text as it is, quotes and all', z.string(), [text('"a"')], '"a"'],
    ['a number in the text', z.number(), [text('42')], 42],
    ['text before an equal number', z.union([z.string(), z.number()]), [text('42')], '42'],
    ['an object before its text', z.union([z.string(), z.object({})]), [text('{}')], {}],
    ['with the defaults of the schema', z.object({ pages: z.int().default(3) }), [data({})], { pages: 3 }],
    ['what the schema made of it', z.string().transform((t) => t.length), [text('four')], 4],
    ['what a schema that waits says', z.string().refine(async () => true), [text('x')], 'x'],
  ])('%s', async (_name, schema, parts, expected) => {
    expect(await reading(schema, ...parts)).toEqual(expected);
  });
});

describe('a refused input', () => {
  async function refusalOf(schema: Schema, ...parts: readonly Part[]): Promise<CodedError> {
    const refusal = await reading(schema, ...parts).catch((error: unknown) => error);
    if (!(refusal instanceof CodedError)) throw new Error('it was not refused');
    expect(refusal.code).toBe('invalid_argument');
    return refusal;
  }

  test('names each field as its author knows it, and where it stands in the request', async () => {
    const refusal = await refusalOf(Refund, data({ order: 'a', cents: -1 }));
    expect(refusal.message).toBe(
      'Skill "refund" refused the input: cents must be positive; order must match ^[A-Z]\\d+$. Nothing was stored.',
    );
    expect(refusal.detail.violations).toEqual([
      { field: 'message.parts[0].data.order', description: 'must match ^[A-Z]\\d+$' },
      { field: 'message.parts[0].data.cents', description: 'must be positive' },
    ]);
  });

  test('inside an envelope and inside JSON text is named there', async () => {
    const enveloped = await refusalOf(Refund, text('x'), data({ skill: 'refund', input: { order: 'A1' } }));
    expect(enveloped.detail.violations).toEqual([
      { field: 'message.parts[1].data.input.cents', description: 'is required' },
    ]);
    const written = await refusalOf(Refund, text('{"order":"A1","cents":"x"}'));
    expect(written.detail.violations?.[0]?.field).toBe('message.parts[0].text.cents');
  });

  test('that is no object at all is named as the input', async () => {
    const refusal = await refusalOf(Refund, text('refund A1 please'));
    expect(refusal.message).toContain('the input must be an object');
    expect(refusal.detail.violations?.[0]?.field).toBe('message.parts[0].text');
  });

  test('is told in the same words by every library', async () => {
    const order = { order: 'a', cents: 0 };
    const valibot = v.object({
      order: v.pipe(v.string(), v.regex(/^[A-Z]/)),
      cents: v.pipe(v.number(), v.minValue(1)),
    });
    const arktype = type({ order: '/^[A-Z]/', cents: 'number>0' });
    expect((await refusalOf(valibot, data(order))).message).toContain('cents must be >=1; order must be /^[A-Z]/.');
    expect((await refusalOf(arktype, data(order))).message).toContain('cents must be positive (was 0); order must be ');
    expect((await refusalOf(valibot, data({}))).message).toContain('cents is required; order is required.');
    expect((await refusalOf(arktype, data({}))).message).toContain('cents must be a number (was missing)');
  });

  test.each<[Schema, Json, string]>([
    [z.object({ a: z.string().min(1) }), { a: '' }, 'a must not be empty'],
    [z.object({ a: z.string().max(2) }), { a: 'abc' }, 'a must have at most 2 characters'],
    [z.object({ a: z.array(z.string()).min(1) }), { a: [] }, 'a must not be empty'],
    [z.object({ a: z.number().min(0).max(9) }), { a: -1 }, 'a must not be negative'],
    [z.object({ a: z.number().lt(9) }), { a: 9 }, 'a must be less than 9'],
    [z.object({ a: z.enum(['x', 'y']) }), { a: 'z' }, 'a must be one of "x", "y"'],
    [z.object({ a: z.email() }), { a: 'z' }, 'a must be a valid email'],
    [
      z.object({ a: z.array(z.object({ b: z.int() })) }),
      { a: [{ b: 1 }, { b: 1.5 }] },
      'a[1].b must be a whole number',
    ],
    [z.strictObject({ a: z.int() }), { a: 1, b: 2 }, 'the input must not have "b"'],
    [z.union([z.string(), z.object({ a: z.string() })]), { a: 1 }, 'a must be text'],
    [
      z.union([z.object({ a: z.int() }), z.object({ b: z.int() })]),
      { c: 1 },
      'the input fits none of the forms that are taken',
    ],
    [z.object({ a: z.string('must be the name of a city') }), { a: 1 }, 'a must be the name of a city'],
    [z.object({ a: z.string('No city!') }), { a: 1 }, 'a is refused: No city!'],
  ])('reads well: %#', async (schema, value, sentence) => {
    expect((await refusalOf(schema, data(value))).message).toBe(
      `Skill "refund" refused the input: ${sentence}. Nothing was stored.`,
    );
  });
});

describe('a text that would hold a pattern of the schema for hours is refused by name', () => {
  const slow = `${'a'.repeat(60)}!`;
  const code = z.string().regex(/^(a+)+$/);
  test.each<[Schema, Part, string]>([
    [code, text(slow), 'message.parts[0].text'],
    [
      z.object({ codes: z.array(z.object({ code })) }),
      data({ codes: [{ code: 'a' }, { code: slow }] }),
      'message.parts[0].data.codes[1].code',
    ],
    [z.union([z.number(), code]), data(slow), 'message.parts[0].data'],
    [type({ code: /^(a+)+$/ }) as never, data({ code: slow }), 'message.parts[0].data.code'],
  ])('%#', async (schema, part, field) => {
    await expect(reading(schema, part)).rejects.toMatchObject({
      code: 'invalid_argument',
      detail: { violations: [{ field, description: 'is too intricate for ^(a+)+$' }] },
    });
  });

  const tree: Schema = z.object({
    code,
    get more() {
      return z.array(tree as never);
    },
  });
  test.each<[string, Schema, Json, string]>([
    ['without regard to case', z.string().regex(/^(a+)+$/i), slow.toUpperCase(), ''],
    ['whose dot is any character', z.string().regex(/^(.+)+!$/s), '\n'.repeat(60), ''],
    ['of older syntax', z.string().regex(/^(-|a+)+$/), slow, ''],
    ['of a value of any name', z.record(z.string(), code), { k: slow }, '.k'],
    ['of a name', z.record(code, z.string()), { [slow]: '' }, `.${slow}`],
    ['of any further property', z.object({}).catchall(code), { k: slow }, '.k'],
    ['of a tuple', z.tuple([z.string(), code]), ['a', slow], '[1]'],
    ['of a schema in itself', tree, { code: 'a', more: [{ code: slow, more: [] }] }, '.more[0].code'],
  ])('also by one %s', async (_name, schema, value, field) => {
    await expect(reading(schema, data(value))).rejects.toMatchObject({
      detail: { violations: [{ field: `message.parts[0].data${field}` }] },
    });
  });

  test('a value as deep as text can be is no fault of the comparison', async () => {
    const list: Schema = z.object({ more: z.array(z.any()) });
    await expect(reading(list, text(`${'['.repeat(50_000)}${']'.repeat(50_000)}`))).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  });
});
