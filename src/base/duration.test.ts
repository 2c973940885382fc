import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Duration, durationMs } from './duration.ts';

test.each<[Duration, number]>([
  ['0s', 0],
  ['5ms', 5],
  ['1.5s', 1_500],
  ['2m', 120_000],
  ['12h', 43_200_000],
  ['7d', 604_800_000],
])('%s is %i ms', (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});

test.each(['', '5', 's', '5 s', '5S', '-5s', '1e3s', '5s ', '5w', '.5s', '5.s', 'Infinitys', 'NaNs', '0x5s'])(
  '%j is no duration, and the error shows it',
  (text) => {
    expect(() => durationMs(text as Duration)).toThrow(`"${text}" is not a duration`);
  },
);

test.each(['36526d', '99999999d', `${'9'.repeat(400)}ms`])(
  '%j is too long, and the error says what is the most',
  (text) => {
    expect(() => durationMs(text as Duration)).toThrow(/^"9?\d+[^"]*" is too long; 36525d is the most$/);
  },
);

test('a century is not', () => {
  expect(durationMs('36525d')).toBe(36_525 * 86_400_000);
});

test('a number of units is that number of times the unit', () => {
  const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
  fc.assert(
    fc.property(fc.nat(36_525), fc.constantFrom('ms', 's', 'm', 'h', 'd'), (count, unit) => {
      expect(durationMs(`${count}${unit}`)).toBe(count * units[unit]);
    }),
  );
});
