import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { skill } from './definition.ts';
import { outputParts } from './output.ts';

const plain = skill({ description: 'x', run: () => 'done' });
const Count = z.object({ words: z.int(), pages: z.int().default(1) });
const counted = skill({ description: 'x', output: Count, run: () => ({ words: 3 }) });
const told = skill({
  description: 'x',
  output: Count,
  say: ({ words }) => `${words} words`,
  run: () => ({ words: 3 }),
});

describe('what a handler returned becomes', () => {
  test('text where there is no schema, and nothing where it returned nothing', async () => {
    expect(await outputParts(plain, 'done')).toEqual([{ kind: 'text', text: 'done' }]);
    expect(await outputParts(plain, undefined)).toEqual([]);
  });

  test('data with the defaults of the schema, after the text that the skill says of it', async () => {
    const data = { kind: 'data', data: { words: 3, pages: 1 } };
    expect(await outputParts(counted, { words: 3 })).toEqual([data]);
    expect(await outputParts(told, { words: 3 })).toEqual([{ kind: 'text', text: '3 words' }, data]);
  });

  test.each<[string, typeof plain | typeof counted, unknown, string]>([
    ['what its schema refuses', counted, { words: 'x' }, 'output.words must be a number'],
    ['nothing where its schema wants something', counted, undefined, 'output is required'],
    ['an object without a schema', plain, { a: 1 }, 'a value of type object'],
    ['null without a schema', plain, null, 'returned null'],
  ])("the author's fault: %s", async (_name, by, returned, text) => {
    await expect(outputParts(by, returned)).rejects.toMatchObject({
      name: 'AgentCodeError',
      page: 'output',
      message: expect.stringContaining(text),
    });
  });
});
