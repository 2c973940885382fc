import { describe, expect, test } from 'vitest';
import type { BlobNo, ContextId, TaskId } from '../model/ids.ts';
import type { Message, Part } from '../model/message.ts';
import { textMessage } from '../testing/runtime-node.ts';
import { digestBytes } from './content-digest.ts';
import { differingPart, fingerprintOf, isSameContent } from './fingerprint.ts';
import { createSecrets } from './secrets.ts';

const secrets = createSecrets(new Uint8Array(32).fill(1));
const base = textMessage('m1', 'hello');
const digest = async (message: Message, metadata?: Record<string, string>): Promise<string> =>
  (await fingerprintOf(secrets, { message, ...(metadata === undefined ? {} : { metadata }) })).digest;
const bytes = new Uint8Array(100_000).fill(9);

describe('two messages are the same', () => {
  test.each<[string, Message, Record<string, string>?]>([
    ['with another id', textMessage('m2', 'hello')],
    ['with other metadata', { ...base, metadata: { trace: 'x' } }],
    ['with other metadata of the request', base, { trace: 'x' }],
    ['with other extensions', { ...base, extensions: ['https://a.example'] }],
    ['with no references in a list', { ...base, referenceTaskIds: [] }],
  ])('%s', async (_name, message, metadata) => {
    expect(await digest(message, metadata)).toBe(await digest(base));
  });

  test('whatever the order of keys in their data', async () => {
    const data = (value: Record<string, number>): Message => ({ ...base, parts: [{ kind: 'data', data: value }] });
    expect(await digest(data({ a: 1, b: 2 }))).toBe(await digest(data({ b: 2, a: 1 })));
  });

  test('whether their bytes are in hand or in a blob', async () => {
    const raw: Part = { kind: 'raw', raw: bytes, filename: 'a.bin' };
    const blob: Part = {
      kind: 'blob',
      blobNo: 1 as BlobNo,
      bytes: bytes.length,
      sha256: await digestBytes(bytes),
      filename: 'a.bin',
    };
    expect(await digest({ ...base, parts: [raw] })).toBe(await digest({ ...base, parts: [blob] }));
  });

  test('wherever they name the skill', async () => {
    const named = await digest({ ...base, metadata: { skillId: 'a' } });
    expect(await digest(base, { skillId: 'a' })).toBe(named);
  });

  test('where the recipe changed in between, since running twice is worse', () => {
    expect(isSameContent({ version: 0, digest: 'a' }, { version: 1, digest: 'b' })).toBe(true);
    expect(isSameContent({ version: 1, digest: 'a' }, { version: 1, digest: 'b' })).toBe(false);
  });
});

describe('two messages differ', () => {
  test.each<[string, Message, Record<string, string>?]>([
    ['in text', textMessage('m1', 'hello!')],
    ['in role', { ...base, role: 'agent' }],
    ['in task', { ...base, taskId: 't' as TaskId }],
    ['in context', { ...base, contextId: 'c' as ContextId }],
    ['in references', { ...base, referenceTaskIds: ['t'] }],
    ['in skill', base, { skillId: 'a' }],
    ['in media type', { ...base, parts: [{ kind: 'text', text: 'hello', mediaType: 'text/markdown' }] }],
    ['in the number of parts', { ...base, parts: [...base.parts, ...base.parts] }],
  ])('%s', async (_name, message, metadata) => {
    expect(await digest(message, metadata)).not.toBe(await digest(base));
  });

  test('in bytes', async () => {
    const raw = (fill: number): Message => ({ ...base, parts: [{ kind: 'raw', raw: new Uint8Array(10).fill(fill) }] });
    expect(await digest(raw(1))).not.toBe(await digest(raw(2)));
  });
});

describe('the difference has a name', () => {
  const text = (value: string): Part => ({ kind: 'text', text: value });
  test.each<[string | undefined, readonly Part[], readonly Part[]]>([
    ['parts[0].text', [text('a')], [text('b')]],
    ['parts[1].text', [text('a'), text('b')], [text('a'), text('c')]],
    ['parts[0]', [text('a')], [{ kind: 'url', url: 'a' }]],
    ['parts', [text('a')], [text('a'), text('b')]],
    ['parts', [text('a'), text('b')], [text('a')]],
    ['parts[0].filename', [{ ...text('a'), filename: 'x' }], [text('a')]],
    ['parts[0].raw', [{ kind: 'raw', raw: Uint8Array.of(1) }], [{ kind: 'raw', raw: Uint8Array.of(2) }]],
    [undefined, [text('a')], [text('a')]],
    [undefined, [{ kind: 'withheld', of: 'text' }], [text('b')]],
  ])('%s', async (path, known, sent) => {
    expect(await differingPart(known, sent)).toBe(path);
  });
});
