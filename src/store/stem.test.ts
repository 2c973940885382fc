import { expect, test } from 'vitest';
import { stemOf, stemsOf, withStems } from './stem.ts';

test.each([
  ['tide tides'],
  ['lease leases leased leasing'],
  ['store stores stored storing'],
  ['restore restores restored restoring'],
  ['run runs running'],
  ['stop stops stopped stopping'],
  ['cry cries cried crying'],
  ['try tries tried trying'],
  ['memory memories'],
  ['class classes'],
  ['process processes processed processing'],
  ['box boxes boxed boxing'],
  ['cache caches cached caching'],
  ['agree agrees agreed agreeing'],
  ['renew renews renewed renewing'],
  ['create creates created creating'],
  ['enable enables enabled enabling'],
  ['hope hopes hoped hoping'],
  ['say says saying'],
  ['tie ties tied'],
])('one stem: %s', (words) => {
  expect(new Set(words.split(' ').map(stemOf)).size, words.split(' ').map(stemOf).join(' ')).toBe(1);
});

test.each([
  ['hop hope'],
  ['gas ga'],
  ['sing s'],
  ['bus bu'],
  ['red r'],
  ['thing th'],
  ['organization organize'],
  ['fail fall'],
])('two words: %s', (words) => {
  expect(new Set(words.split(' ').map(stemOf)).size).toBe(2);
});

test.each(['', 'a', 'is', 'as', '2026', 'straßen', 'äpfel', 'дома', '日本', 'x86s'])('%j stays', (word) => {
  expect(stemOf(word)).toBe(word);
});

test('the words of a text in lower case; a text keeps what stands between them', () => {
  expect([...stemsOf('Leases, LEASED: 3 Äpfel!')]).toEqual(['leas', 'leas', '3', 'äpfel']);
  expect(withStems('Tides (and "leases"), Äpfel\u0000\ud800 x')).toBe('tide (and "leas"), Äpfel\u0000\ud800 x');
});

test('letters without an end are no word, and stay as they are', () => {
  const letters = `${'y'.repeat(100_000)}ing`;
  expect([...stemsOf(letters)]).toEqual([letters]);
  expect(withStems(letters)).toBe(letters);
});
