import { describe, expect, test } from 'vitest';
import type { MessageId } from '../model/ids.ts';
import type { Part } from '../model/message.ts';
import type { RemoteTask } from '../protocol/v1/client-codec.ts';
import { block, field, renderPart, renderStreamItem, renderTask } from './render-text.ts';

const style = { verbose: false, resume: (id: string) => `answer ${id}` };
const said = (...parts: readonly Part[]) => ({ messageId: 'm1' as MessageId, role: 'agent' as const, parts });
const text = (words: string): Part => ({ kind: 'text', text: words });

function task(more: Partial<RemoteTask> = {}): RemoteTask {
  return {
    id: 't1',
    contextId: 'c1',
    status: { state: 'working' },
    artifacts: [],
    history: [],
    metadata: {},
    ...more,
  };
}

describe('what an agent wrote cannot', () => {
  test('move a terminal: control characters are taken out', () => {
    expect(field('State', '\u001b[2Jgone\u0007\u009b31m')).toBe('State: [2Jgone31m\n');
    expect(block('Text', 'a\u001b]0;title\u0007\tb')).toBe('Text:\na]0;title\tb\n\n');
  });

  test('end its block early or pass for a field: only the last line of a block is empty', () => {
    expect(block('Text', 'one\r\n\r\nState: COMPLETED\n\n\n')).toBe('Text:\none\n \nState: COMPLETED\n\n');
    expect(field('Message', 'one\n\nState: COMPLETED')).toBe('Message: one State: COMPLETED\n');
  });
});

describe('a task', () => {
  test('says ids and state, words on one line as a field, more as a block', () => {
    expect(renderTask(task(), style)).toBe('Task ID: t1\nContext ID: c1\nState: WORKING\n');
    expect(renderTask(task({ status: { state: 'working', message: said(text('on it')) } }), style)).toMatch(
      /Message: on it\n$/,
    );
    const two = task({ status: { state: 'working', message: said(text('one\ntwo')) } });
    expect(renderTask(two, style)).toMatch(/Message:\none\ntwo\n\n$/);
  });

  test('that waits says how to answer', () => {
    const waiting = task({ status: { state: 'input-required', message: said(text('Which?')) } });
    expect(renderTask(waiting, style)).toMatch(/State: INPUT_REQUIRED\nMessage: Which\?\nResume: answer t1\n$/);
  });

  test('of a state that is not known says so', () => {
    expect(renderTask(task({ status: { state: 'unspecified' } }), style)).toContain('State: UNSPECIFIED\n');
  });

  test('shows chunks of text as one, and each part and the history only when asked', () => {
    const artifact = { artifactId: 'a1', name: 'x.md', parts: [text('one '), text('two')], metadata: {} };
    const whole = task({ artifacts: [artifact], history: [said(text('hi'))] });
    expect(renderTask(whole, style)).toMatch(/State: WORKING\nArtifact: x\.md \(a1\)\nText:\none two\n\n$/);
    const verbose = renderTask(whole, { ...style, verbose: true });
    expect(verbose).toContain('History: agent m1\nText:\nhi\n\n');
    expect(verbose).toContain('Text:\none \n\nText:\ntwo\n\n');
  });
});

test.each<[Part, string]>([
  [{ kind: 'data', data: { a: [1] } }, 'Data:\n{\n  "a": [\n    1\n  ]\n}\n\n'],
  [{ kind: 'raw', raw: Uint8Array.of(1, 2), filename: 'a.bin' }, 'File: a.bin, application/octet-stream, 2 bytes\n'],
  [{ kind: 'url', url: 'https://x/a', mediaType: 'text/plain' }, 'File: text/plain, https://x/a\n'],
  [{ kind: 'withheld', of: 'text' }, 'Withheld: text\n'],
])('a part: %j', (part, shown) => {
  expect(renderPart(part)).toBe(shown);
});

test('the chunk that only closes an artifact says nothing', () => {
  const place = { taskId: 't1', contextId: 'c1', metadata: {} };
  const artifact = { artifactId: 'a1', parts: [text('')], metadata: {} };
  expect(renderStreamItem({ kind: 'artifact', ...place, artifact, append: true, lastChunk: true }, style)).toBe('');
});
