import { expect, test } from 'vitest';
import type { Part } from '../model/message.ts';
import { checkParts } from './parts.ts';

const check = (...parts: readonly unknown[]) => checkParts(parts as readonly Part[], 'Artifact "a"');

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
