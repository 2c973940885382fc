import { expect, test } from 'vitest';
import type { Message } from '../src/index.ts';
import tck, { prefixOf } from './tck.ts';

test.each([
  ['tck-complete-task-1f', 'tck-complete-task'],
  ['tck-artifact-file-1', 'tck-artifact-file'],
  ['tck-artifact-file-url-1', 'tck-artifact-file-url'],
  ['tck-stream-artifact-chunked', 'tck-stream-artifact-chunked'],
  ['tck-stream-ordering-001-x', 'tck-stream-ordering-001'],
  ['tck-stream-002', undefined],
  ['a-tck-complete-task', undefined],
  ['constructor', undefined],
])('the longest prefix wins: %s', (messageId, prefix) => {
  expect(prefixOf(messageId)).toBe(prefix);
});

test('only a message response is a direct reply', () => {
  const skillOf = (messageId: string) => tck.dispatch?.({ messageId } as Message);
  expect(skillOf('tck-message-response-7')).toBe('message');
  expect(skillOf('tck-complete-task-7')).toBe('task');
  expect(skillOf('7')).toBe('task');
});
