import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBase64, decodedBytesMax } from './base64.ts';

test.each([
  ['', ''],
  ['QQ==', 'A'],
  ['QQ', 'A'],
  ['QUI=', 'AB'],
  ['QUI', 'AB'],
  ['QUJD', 'ABC'],
  ['QUJD\r\nREVG\n', 'ABCDEF'],
  ['QU JD', 'ABC'],
])('%j is %j', (text, bytes) => {
  expect(Buffer.from(decodeBase64(text) ?? [0]).toString('latin1')).toBe(bytes);
});

test('both alphabets are read, also mixed', () => {
  for (const text of ['-_-_', '+/+/', '+_-/']) expect([...(decodeBase64(text) ?? [])]).toEqual([251, 255, 191]);
});

test.each([
  'Q',
  'QUJDR',
  'Q===',
  'QQ===',
  'QQ==QQ==',
  'Q=Q=',
  'Q*==',
  'QU.D',
  'ŁŁŁŁ',
  'QUJ€',
  'data:QUJD',
  '\u0000\u0000',
])('%j is no base64', (text) => {
  expect(decodeBase64(text)).toBeUndefined();
});

test('whatever bytes are written are read again', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.constantFrom('base64', 'base64url'), (bytes, alphabet) => {
      const text = Buffer.from(bytes).toString(alphabet as 'base64');
      expect(Buffer.compare(decodeBase64(text) ?? Buffer.of(), bytes)).toBe(0);
      expect(decodedBytesMax(text)).toBe(bytes.length);
    }),
  );
});

test('a text with one foreign character is never taken', () => {
  const alphabet = fc.constantFrom(...'ABYZabyz0189+/-_');
  fc.assert(
    fc.property(
      fc.string({ unit: alphabet }),
      fc.constantFrom('*', '.', ',', '\u0000', 'é', '=A'),
      fc.string({ unit: alphabet }),
      (a, foreign, b) => {
        expect(decodeBase64(a + foreign + b)).toBeUndefined();
      },
    ),
  );
});
