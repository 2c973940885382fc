import { expect, test } from 'vitest';
import type { Part } from '../model/message.ts';
import { ownParts } from './parts.ts';

const check = (...parts: readonly unknown[]) => ownParts(parts as readonly Part[], 'Artifact "a"');

test('parts of every kind pass', () => {
  check(
    { kind: 'text', text: '' },
    { kind: 'raw', raw: new Uint8Array() },
    { kind: 'url', url: 'https://example.com' },
    { kind: 'data', data: null },
    { kind: 'withheld', of: 'text' },
  );
});

test.each([
  [undefined, 'is no object'],
  [null, 'is no object'],
  ['text', 'is no object'],
  [{}, 'has no "kind"'],
  [{ kind: 'nope' }, 'has no "kind"'],
  [{ text: 'A2A writes it so' }, 'has no "kind"'],
  [{ kind: 'text' }, 'has a "text"'],
  [{ kind: 'text', text: 42 }, 'has a "text"'],
  [{ kind: 'raw', raw: 'AAAA' }, 'has a "raw"'],
  [{ kind: 'url', url: new URL('https://example.com') }, 'has a "url"'],
  [{ kind: 'data' }, 'has a "data"'],
  [{ kind: 'data', data: () => 1 }, 'has a "data"'],
])('%o is none, and the error says where', (part, fault) => {
  const expected = {
    name: 'AgentCodeError',
    page: 'output',
    message: expect.stringContaining(`Artifact "a" was given a part that is none: [1] ${fault}`),
  };
  expect(() => check({ kind: 'text', text: 'x' }, part)).toThrow(expect.objectContaining(expected));
});

test('data is as JSON gives it back: what is no JSON is refused, and nothing in it can be written raw', () => {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  const date = new Date(0);
  expect(check({ kind: 'data', data: { raw: rawJSON('"\\u0062lob 1 5"'), date, none: undefined } })).toEqual([
    { kind: 'data', data: { raw: 'blob 1 5', date: date.toISOString() } },
  ]);
  for (const data of [10n, { toJSON: () => undefined }]) {
    expect(() => check({ kind: 'data', data })).toThrow('[0] has a "data" that is no JSON');
  }
});

test('bytes that are named pass only where the task holds them', () => {
  const blob = { kind: 'blob', blobNo: 1, bytes: 5, sha256: 'ff' };
  expect(() => check(blob)).toThrow('[0] names bytes that its task does not hold');
  expect(ownParts([blob] as never, 'a', () => true)).toEqual([blob]);
});
