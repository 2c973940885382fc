import fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeText, unescapeText } from './text-escape.ts';

const utf16 = fc
  .array(fc.oneof(fc.constantFrom(0, 0x1a, 0x30, 0xd800, 0xdbff, 0xdc00, 0xdfff), fc.nat(0xffff)))
  .map((units) => String.fromCharCode(...units));

test('any text comes back equal', () => {
  fc.assert(fc.property(utf16, (text) => unescapeText(escapeText(text)) === text));
});

test('what is stored holds no U+0000 and no half of a pair', () => {
  fc.assert(fc.property(utf16, (text) => escapeText(text).isWellFormed() && !escapeText(text).includes('\u0000')));
});

test('ordinary text is stored as it is', () => {
  expect(escapeText('naïve 😀 "\\u0000"\n')).toBe('naïve 😀 "\\u0000"\n');
});

test('JSON needs no escape', () => {
  const payload = JSON.stringify({ text: '\u0000\u001a\ud800' });
  expect(escapeText(payload)).toBe(payload);
});
