import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitPassages } from './passages.ts';

const words = (count: number, word = 'tide'): string => Array.from({ length: count }, () => word).join(' ');
/** 49 characters a sentence. */
const sentences = (count: number): string =>
  Array.from(
    { length: count },
    (_, index) => `Sentence ${String(index).padStart(3, '0')} says something about the tide.`,
  ).join(' ');

describe('a text is cut into passages', () => {
  test('a short one stays whole', () => {
    expect(splitPassages('The tide turns twice a day.')).toEqual([{ text: 'The tide turns twice a day.', line: 1 }]);
  });

  test.each(['', '  \n\n\t\n'])('an empty one has none: %j', (text) => {
    expect(splitPassages(text)).toEqual([]);
  });

  test('a heading begins a passage that says its line and its heading', () => {
    const text = `# Tides\n\n${words(60)}\n\n## Springs\n\n${words(60, 'spring')}\n\n## Neaps\n${words(60, 'neap')}\n`;
    expect(splitPassages(text).map(({ line, heading, text }) => [line, heading, text.slice(0, 22)])).toEqual([
      [1, 'Tides', '# Tides\n\ntide tide tide'.slice(0, 22)],
      [5, 'Springs', '## Springs\n\nspring spr'.slice(0, 22)],
      [9, 'Neaps', '## Neaps\nneap neap neap'.slice(0, 22)],
    ]);
  });

  test('an underlined heading is one too, a rule under a paragraph is not', () => {
    const text = `Tides\n=====\n${words(60)}\n\nSprings\n-------\n${words(60)}\n\none\ntwo\n---\n${words(60)}`;
    expect(splitPassages(text).map(({ line, heading }) => [line, heading])).toEqual([
      [1, 'Tides'],
      [5, 'Springs'],
    ]);
  });

  test('short sections join until they say something', () => {
    const text = ['one', 'two', 'three', 'four'].map((name) => `## ${name}\n${words(16)}`).join('\n\n');
    const passages = splitPassages(text);
    expect(passages.map(({ heading }) => heading)).toEqual(['one', 'four'].slice(0, passages.length));
    expect(passages[0]?.text).toContain('## three');
  });

  test('paragraphs join up to the largest size, and the line is that of the first', () => {
    const paragraph = words(100);
    const passages = splitPassages([paragraph, paragraph, paragraph, paragraph].join('\n\n'));
    expect(passages.map(({ line, text }) => [line, text.length])).toEqual([
      [1, 2 * paragraph.length + 2],
      [5, 2 * paragraph.length + 2],
    ]);
  });

  test('a long paragraph is cut between sentences, and between lines before that', () => {
    for (const passage of splitPassages(sentences(100))) expect(passage.text).toMatch(/^Sentence .*tide\.$/);
    const table = Array.from({ length: 100 }, (_, index) => `| row ${index} | ${words(4)}. And more |`).join('\n');
    const rows = splitPassages(table);
    expect(rows.length).toBeGreaterThan(2);
    for (const { text, line } of rows) expect(text.split('\n')[0]).toBe(table.split('\n')[line - 1]);
  });

  test('a fenced block keeps its blank lines and its hashes', () => {
    const text = `# Use\n\n\`\`\`sh\n# not a heading\n\nnpm start\n\`\`\`\n\n${words(60)}`;
    expect(splitPassages(text)).toEqual([{ text, line: 1, heading: 'Use' }]);
  });

  test('line ends of any kind, and a byte order mark', () => {
    const text = `\uFEFF# Tides\r\n\r\n${words(50)}\r\n\r\n# Winds\r\n\r\n${words(50)}`;
    expect(splitPassages(text).map(({ line, heading }) => [line, heading])).toEqual([
      [1, 'Tides'],
      [5, 'Winds'],
    ]);
  });
});

test('nothing is lost, doubled or reordered, no passage is too long, and every line is where it says', () => {
  const line = fc.oneof(
    fc.constant(''),
    fc.constantFrom('# Heading', '## Other', '===', '---', '```', '- item', '   indented'),
    fc.string({ unit: 'grapheme', maxLength: 90 }),
    fc.nat(400).map((count) => sentences(count % 40)),
    fc.nat(3).map((count) => 'x'.repeat(700 * count)),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40 }), (lines) => {
      const text = lines.join('\n');
      const passages = splitPassages(text);
      const squeezed = (value: string) => value.replace(/^\uFEFF/, '').replace(/\s+/g, '');
      expect(passages.map((passage) => squeezed(passage.text)).join('')).toBe(squeezed(text));
      for (const passage of passages) {
        expect(passage.text.length).toBeLessThanOrEqual(1_200);
        const first = passage.text.split(/\r\n|\n|\r/)[0] ?? '';
        expect(text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)[passage.line - 1]).toContain(first.trim());
      }
    }),
    { seed: 7, numRuns: 300 },
  );
});
