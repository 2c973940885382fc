import { expect, test } from 'vitest';
import { WordIndex } from './word-index.ts';

const indexOf = (texts: Record<string, string>): WordIndex<string> => {
  const index = new WordIndex<string>();
  for (const [key, text] of Object.entries(texts)) index.add(key, text);
  return index;
};
const found = (index: WordIndex<string>, query: string): string[] => index.search(query, 10).map(({ key }) => key);

test('any word finds, whatever its case', () => {
  const index = indexOf({ a: 'The Sea is salt', b: 'a lake', c: 'ÄPFEL und Öl' });
  expect(found(index, 'SEA lake').sort()).toEqual(['a', 'b']);
  expect(found(index, 'äpfel')).toEqual(['c']);
  expect(found(index, 'river')).toEqual([]);
});

test('more words, rarer words and shorter texts come first', () => {
  const common = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`c${index}`, `common n${index}`]));
  expect(found(indexOf({ ...common, rare: 'rare n' }), 'common rare')[0]).toBe('rare');
  expect(found(indexOf({ one: 'sea x', both: 'sea lake' }), 'sea lake')).toEqual(['both', 'one']);
  expect(found(indexOf({ long: `sea ${'word '.repeat(50)}`, short: 'sea' }), 'sea')).toEqual(['short', 'long']);
});

test('a text that was replaced or removed is not found by its old words', () => {
  const index = indexOf({ a: 'old words', b: 'old' });
  index.add('a', 'new phrase');
  expect(found(index, 'old words')).toEqual(['b']);
  index.remove('b');
  index.remove('b');
  expect(found(index, 'old')).toEqual([]);
  expect(found(index, 'phrase')).toEqual(['a']);
});

test('a query of a million characters is answered by its first words', () => {
  const index = indexOf({ a: 'word1', b: 'word99' });
  const query = Array.from({ length: 100_000 }, (_, at) => `word${at}`).join(' ');
  expect(found(index, query)).toEqual(['a']);
});
