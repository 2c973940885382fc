import { expect, test } from 'vitest';
import type { Part } from '../model/message.ts';
import { filesOf } from './download.ts';

const artifact = (name: string | undefined, ...parts: readonly Part[]) => ({
  artifactId: 'a1',
  ...(name === undefined ? {} : { name }),
  parts,
  metadata: {},
});
const names = (...artifacts: readonly ReturnType<typeof artifact>[]) => filesOf(artifacts).map(({ name }) => name);
const raw = (filename?: string): Part => ({
  kind: 'raw',
  raw: Uint8Array.of(1),
  ...(filename === undefined ? {} : { filename }),
});

test('chunks of one text are one file, other parts one each', () => {
  const files = filesOf([
    artifact('essay.md', { kind: 'text', text: 'one ' }, { kind: 'text', text: 'two' }, { kind: 'data', data: 1 }),
  ]);
  expect(files.map(({ name, bytes }) => [name, Buffer.from(bytes ?? []).toString()])).toEqual([
    ['essay.md', 'one two'],
    ['essay-2.md', '1\n'],
  ]);
});

test.each([
  ['../../etc/passwd', 'passwd.bin'],
  ['/etc/passwd.txt', 'passwd.txt'],
  ['..\\..\\boot.ini', 'boot.ini'],
  ['.bashrc', 'bashrc.bin'],
  ['..', 'artifact.bin'],
  ['a\u0000b:c.txt', 'a_b_c.txt'],
])('a name that would leave the folder stays in it: %j', (filename, name) => {
  expect(names(artifact(undefined, raw(filename)))).toEqual([name]);
});

test('a file has an ending that fits, and a name of its own', () => {
  expect(
    names(artifact('result', { kind: 'text', text: 'x' }), artifact('result', { kind: 'data', data: {} })),
  ).toEqual(['result.txt', 'result.json']);
  expect(names(artifact('a.bin', raw()), artifact('A.bin', raw()))).toEqual(['a.bin', 'A-2.bin']);
  expect(names(artifact('x', { kind: 'text', text: 'x', mediaType: 'text/markdown; charset=utf-8' }))).toEqual([
    'x.md',
  ]);
});

test('a link is named and not fetched', () => {
  expect(filesOf([artifact('x', { kind: 'url', url: 'https://x.example/a' })])).toEqual([
    { name: 'https://x.example/a' },
  ]);
});
