import { expect, test } from 'vitest';
import { withinTime } from './within-time.ts';

const matches = (pattern: RegExp, text: string) => withinTime(() => pattern.test(text));

test('work that ends has its result, or its own error', () => {
  expect(matches(/^b/, 'abc')).toEqual({ result: false });
  expect(() => withinTime(() => JSON.parse('{'))).toThrow(SyntaxError);
});

test('a pattern that would take hours is stopped, and the next is compared as ever', () => {
  expect(matches(/^(a+)+$/, `${'a'.repeat(60)}!`)).toBe('too-slow');
  expect(matches(/^(a+)+$/, 'a'.repeat(60))).toEqual({ result: true });
});
