import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BlobNo } from '../../model/ids.ts';
import type { BlobPart } from '../../model/message.ts';
import { holdsBlobMark, splitAtBlobs } from './blob-marks.ts';
import { encodePart } from './parts.ts';

const blob = (blobNo: number, bytes: number): BlobPart => ({
  kind: 'blob',
  blobNo: blobNo as BlobNo,
  bytes,
  sha256: '',
  filename: 'a "b" \\u0062lob 7 7',
});

describe('a mark', () => {
  test('stands where the base64 of a blob goes', () => {
    const text = JSON.stringify({ parts: [encodePart(blob(3, 9)), encodePart(blob(4, 1))] });
    expect(splitAtBlobs(text)).toEqual([
      '{"parts":[{"raw":"',
      { blobNo: 3, bytes: 9 },
      '","filename":"a \\"b\\" \\\\u0062lob 7 7"},{"raw":"',
      { blobNo: 4, bytes: 1 },
      '","filename":"a \\"b\\" \\\\u0062lob 7 7"}]}',
    ]);
  });

  test('pins: how it is spelt', () => {
    expect(JSON.stringify(encodePart({ ...blob(3, 9), filename: 'f' }))).toBe(
      '{"raw":"\\u0062lob 3 9","filename":"f"}',
    );
  });

  test.each([
    'blob 3 9',
    '\\u0062lob 3 9',
    '"\\u0062lob 3 9"',
    '\\"\\u0062lob 3 9"',
    '\\\\u0062lob 3 9',
    '\u0000"\\u0062lob 3 9',
    '\ud800"\\u0062lob 3 9"',
  ])('is written by nobody else: %j', (said) => {
    const value = { [said]: [said, { text: said }] };
    for (const text of [JSON.stringify(value), JSON.stringify(JSON.stringify(value))]) {
      expect(holdsBlobMark(text)).toBe(false);
      expect(splitAtBlobs(text)).toEqual([text]);
    }
  });

  test('whatever is said in whatever shape names no blob', () => {
    const said = fc
      .array(fc.constantFrom('"', '\\', 'u0062', 'lob 3 9', '\\u0062lob 3 9"', '\ud83d', '\u0000', 'b', ' '))
      .map((words) => words.join(''));
    fc.assert(
      fc.property(fc.dictionary(said, fc.oneof(said, fc.array(said), fc.jsonValue())), (value) => {
        expect(splitAtBlobs(JSON.stringify(value))).toHaveLength(1);
      }),
    );
  });
});
