import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { flatJsonSchema, jsonSchemaOf } from './json-schema.ts';
import type { Schema } from './schema.ts';

describe('the flat JSON Schema of a question', () => {
  test('of zod: an object of primitives, without what nobody needs to read', () => {
    const schema = z.object({
      reason: z.enum(['damaged', 'late']).describe('Why'),
      photo: z.url().optional(),
      cents: z.int().positive(),
      note: z.string().min(2).max(9).default('none'),
      urgent: z.boolean(),
    });
    expect(flatJsonSchema(schema)).toEqual({
      type: 'object',
      required: ['reason', 'cents', 'urgent'],
      properties: {
        reason: { type: 'string', enum: ['damaged', 'late'], description: 'Why' },
        photo: { type: 'string', format: 'uri' },
        cents: { type: 'integer', exclusiveMinimum: 0 },
        note: { type: 'string', minLength: 2, maxLength: 9, default: 'none' },
        urgent: { type: 'boolean' },
      },
    });
  });

  test.each<[string, Schema, unknown]>([
    ['zod boolean', z.boolean(), { type: 'boolean' }],
    ['zod number', z.number().min(1).max(5), { type: 'number', minimum: 1, maximum: 5 }],
    ['zod literals', z.union([z.literal('x'), z.literal(3)]), { enum: ['x', 3] }],
    ['zod transform: what goes in', z.string().transform(Number) as never, { type: 'string' }],
    ['zod date: no word for it', z.date() as never, undefined],
    ['zod coerced date: anything', z.coerce.date() as never, undefined],
    ['arktype enum', type("'x'|'y'") as never, { enum: ['x', 'y'] }],
    ['valibot has no word for it', v.object({ n: v.number() }) as never, undefined],
  ])('%s', (_name, schema, expected) => {
    expect(flatJsonSchema(schema)).toEqual(expected);
  });

  test('of arktype', () => {
    const schema = type({ cents: 'number.integer > 0', 'photo?': 'string.url', at: 'string.date.parse' });
    expect(flatJsonSchema(schema as never)).toMatchObject({
      type: 'object',
      properties: {
        cents: { type: 'integer', exclusiveMinimum: 0 },
        photo: { type: 'string', format: 'uri' },
        at: { type: 'string' },
      },
    });
  });

  test('what lies outside the subset stays as it was written', () => {
    expect(flatJsonSchema(z.object({ tags: z.array(z.string()) }))).toMatchObject({
      properties: { tags: { type: 'array', items: { type: 'string' } } },
    });
  });
});

describe('the JSON Schema of a skill', () => {
  test('keeps nesting, and no dialect', () => {
    expect(jsonSchemaOf(z.object({ to: z.object({ mail: z.email() }) }))).toMatchObject({
      type: 'object',
      properties: { to: { type: 'object', properties: { mail: { type: 'string', format: 'email' } } } },
    });
    expect(jsonSchemaOf(z.object({}))).not.toHaveProperty('$schema');
  });

  test('is what Standard JSON Schema says, where a library has it', () => {
    const schema = {
      '~standard': {
        version: 1 as const,
        vendor: 'own',
        validate: (value: unknown) => ({ value }),
        jsonSchema: { input: () => ({ $schema: 'x', type: 'string', maxLength: 3 }) },
      },
    };
    expect(jsonSchemaOf(schema)).toEqual({ type: 'string', maxLength: 3 });
  });

  test('of zod without it, by our own zod', () => {
    const schema = z.object({ n: z.number() });
    const { jsonSchema: _, ...standard } = schema['~standard'] as unknown as Record<string, unknown>;
    const older = new Proxy(schema, {
      get: (target, key) => (key === '~standard' ? standard : Reflect.get(target, key)),
    });
    expect(jsonSchemaOf(older)).toMatchObject({ type: 'object', properties: { n: { type: 'number' } } });
  });

  test('a library that throws has nothing to say', () => {
    const schema = {
      '~standard': {
        version: 1 as const,
        vendor: 'own',
        validate: (value: unknown) => ({ value }),
        jsonSchema: {
          input: () => {
            throw new Error('no');
          },
        },
      },
    };
    expect(jsonSchemaOf(schema)).toBeUndefined();
  });
});
