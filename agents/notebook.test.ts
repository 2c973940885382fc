import { describe, expect, test } from 'vitest';
import notebook, { decodeText, passagesOf, placeOf } from './notebook.ts';

const long = Array.from({ length: 90 }, (_, index) => `word${index}`).join(' ');

describe('a document becomes passages', () => {
  test('a note is one, with the metadata it came with and no place', () => {
    expect(passagesOf({ text: 'The tide turns at six.' })).toEqual([{ text: 'The tide turns at six.' }]);
    expect(passagesOf({ text: 'Rent is due.', metadata: { year: 2026 } })).toEqual([
      { text: 'Rent is due.', metadata: { year: 2026 } },
    ]);
  });

  test('those of a file know its name, their heading and their line', () => {
    const passages = passagesOf({
      text: `# Tides\n${long}\n\n# Winds\n${long}`,
      source: 'sea.md',
      metadata: { by: 'ann' },
    });
    expect(passages.map(({ source, metadata }) => [source, metadata])).toEqual([
      ['sea.md', { by: 'ann', heading: 'Tides', line: 1 }],
      ['sea.md', { by: 'ann', heading: 'Winds', line: 4 }],
    ]);
  });
});

test('a place reads as file, line and heading, as far as they are known', () => {
  const hit = { id: 'm1', text: 'x', rank: 1 };
  expect(placeOf({ ...hit, source: 'sea.md', line: 4, heading: 'Winds' })).toBe('sea.md:4 (Winds)');
  expect(placeOf({ ...hit, source: 'sea.md' })).toBe('sea.md');
  expect(placeOf(hit)).toBe('note m1');
});

test('bytes that are no text are none', () => {
  expect(decodeText(new TextEncoder().encode('Zoë'))).toBe('Zoë');
  expect(decodeText(Uint8Array.of(0xff, 0xfe, 0x41))).toBeUndefined();
  expect(decodeText(Uint8Array.of(0x41, 0, 0x42))).toBeUndefined();
});

test('it keeps no content in its tasks, and only recall leaves nothing to repeat', () => {
  expect(notebook.policy?.storeContent).toBe(false);
  const kinds = Object.entries(notebook.skills).map(([id, skill]) => [
    id,
    skill.kind,
    'effect' in skill && skill.effect,
  ]);
  expect(kinds).toEqual([
    ['remember', 'reply', 'some'],
    ['recall', 'reply', 'none'],
    ['forget', 'reply', 'some'],
    ['share', 'task', false],
  ]);
});
