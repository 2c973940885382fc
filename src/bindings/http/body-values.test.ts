import { expect, test } from 'vitest';
import { wholeRequest } from '../../testing/server-world.ts';
import { readJson } from './body.ts';

const bodyOf = (text: string) =>
  wholeRequest({ path: '/', headers: { 'content-type': 'application/json' }, body: new TextEncoder().encode(text) });

test('a body of too many values is refused before it is parsed, whatever its size', () => {
  const keys = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join(',')}}`;
  expect(Object.keys(readJson(bodyOf(keys(100_000))) as object)).toHaveLength(100_000);
  expect(() => readJson(bodyOf(keys(100_001)))).toThrow('The JSON holds 100001 values; 100000 are allowed.');
});
