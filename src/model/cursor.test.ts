import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatCursor, parseCursor } from './cursor.ts';
import type { Seq } from './ids.ts';

test('a cursor is its incarnation and its seq', () => {
  expect(formatCursor({ incarnation: 'a1', seq: 12 as Seq })).toBe('a1-12');
  expect(parseCursor('a1-12')).toEqual({ incarnation: 'a1', seq: 12 });
});

test('every cursor that was given out reads as itself', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'azAZ09'), minLength: 1, maxLength: 40 }),
      fc.nat(Number.MAX_SAFE_INTEGER),
      (incarnation, seq) => {
        const cursor = { incarnation, seq: seq as Seq };
        expect(parseCursor(formatCursor(cursor))).toEqual(cursor);
      },
    ),
  );
});

test.each([
  '',
  '-',
  'a1',
  'a1-',
  '-1',
  'a1-01',
  'a1--1',
  'a1-1.5',
  'a1-1e3',
  'a1-9007199254740992',
  'a-b-1',
  ' a1-1',
  'a1-1\n',
  'ä-1',
])('%j is none of ours', (text) => {
  expect(parseCursor(text)).toBeUndefined();
});

test('what reads as a cursor is written the same way again', () => {
  const nearly = fc.string({ unit: fc.constantFrom(...'a0159-.+ '), maxLength: 8 });
  fc.assert(
    fc.property(nearly, (text) => {
      const cursor = parseCursor(text);
      if (cursor !== undefined) expect(formatCursor(cursor)).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});
