import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatInstant, instant } from '../../base/clock.ts';
import { parseTimestamp } from './timestamp.ts';

test.each([
  ['2026-01-31T12:00:00.000Z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31T12:00:00.5Z', '2026-01-31T12:00:00.500Z'],
  ['2026-01-31T12:00:00+02:00', '2026-01-31T10:00:00.000Z'],
  ['2026-01-31T23:59:59-23:59', '2026-02-01T23:58:59.000Z'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
])('%s is %s', (text, expected) => {
  expect(formatInstant(parseTimestamp(text) ?? instant(0))).toBe(expected);
});

test.each([
  ['2026-01-31T12:00:00.000000001Z', '2026-01-31T12:00:00.001Z'],
  ['2026-01-31T12:00:00.999999Z', '2026-01-31T12:00:01.000Z'],
  ['2026-01-31T12:00:00.069Z', '2026-01-31T12:00:00.069Z'],
])('finer than a millisecond is rounded up: %s', (text, expected) => {
  expect(formatInstant(parseTimestamp(text) ?? instant(0))).toBe(expected);
});

test.each([
  '',
  'now',
  '2026-01-31',
  '2026-01-31T12:00:00',
  '2026-01-31 12:00:00Z',
  '2026-01-31t12:00:00z',
  '2026-01-31T12:00Z',
  '2026-02-30T12:00:00Z',
  '2025-02-29T12:00:00Z',
  '2100-02-29T12:00:00Z',
  '2026-04-31T12:00:00Z',
  '2026-00-10T12:00:00Z',
  '2026-13-10T12:00:00Z',
  '2026-01-00T12:00:00Z',
  '2026-01-31T24:00:00Z',
  '2026-01-31T12:60:00Z',
  '2026-01-31T12:00:60Z',
  '2026-01-31T12:00:00+24:00',
  '2026-01-31T12:00:00+0200',
  '2026-01-31T12:00:00.0123456789Z',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+00:01',
  '9999-12-31T23:59:59-00:01',
])('%j is no timestamp', (text) => {
  expect(parseTimestamp(text)).toBeUndefined();
});

test('what we write we read', () => {
  fc.assert(
    fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }), (epochMs) => {
      expect(parseTimestamp(formatInstant(instant(epochMs)))).toBe(epochMs);
    }),
  );
});
