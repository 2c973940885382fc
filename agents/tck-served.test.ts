import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StreamItem } from '../src/protocol/v1/client-codec.ts';
import { type AgentTalk, talkTo } from '../src/testing/agent-talk.ts';
import { type ServerWorld, startWorld } from '../src/testing/server-world.ts';
import tck from './tck.ts';

let world: ServerWorld;
beforeAll(async () => {
  world = await startWorld({ agents: [tck] });
});
afterAll(() => world.close());

/** The kit makes ids of a prefix and something that it may use again. */
let ids = 0;
function said(prefix: string) {
  ids += 1;
  return { text: 'hello', messageId: `${prefix}-${ids}` };
}
const kinds = (items: readonly StreamItem[]) =>
  items.map((item) => (item.kind === 'status' ? item.status.state : item.kind));

describe.each(['jsonrpc', 'rest'] as const)('the tck agent over %s', (binding) => {
  let talk: AgentTalk;
  beforeAll(() => {
    talk = talkTo(world.url, { binding });
  });

  test.each([
    ['tck-complete-task', 'Hello from TCK'],
    ['tck-delayed-complete', 'Done after delay'],
  ])('%s completes with its status message', async (prefix, text) => {
    const { status, artifacts } = await talk.task(said(prefix));
    expect(status.state).toBe('completed');
    expect(status.message?.parts).toEqual([{ kind: 'text', text }]);
    expect(artifacts).toEqual([]);
  });

  test.each([
    ['tck-artifact-text', [{ kind: 'text', text: 'Generated text content' }]],
    ['tck-artifact-file', [{ kind: 'raw', raw: Buffer.from('tck'), filename: 'output.txt', mediaType: 'text/plain' }]],
    [
      'tck-artifact-file-url',
      [{ kind: 'url', url: 'https://example.com/output.txt', filename: 'output.txt', mediaType: 'text/plain' }],
    ],
    ['tck-artifact-data', [{ kind: 'data', data: { key: 'value', count: 42 } }]],
    [
      'tck-stream-artifact-chunked',
      [
        { kind: 'text', text: 'chunk-1 ' },
        { kind: 'text', text: 'chunk-2' },
      ],
    ],
  ])('%s has its artifact', async (prefix, parts) => {
    const { status, artifacts } = await talk.task(said(prefix));
    expect(status.state).toBe('completed');
    expect(artifacts.map((artifact) => artifact.parts)).toEqual([parts]);
  });

  test.each([
    ['tck-stream-001', 'Stream hello from TCK'],
    ['tck-stream-003', 'Stream task lifecycle'],
    ['tck-stream-ordering-001', 'Ordered output'],
  ])('%s streams its one artifact before the end', async (prefix, text) => {
    const items = await talk.stream(said(prefix));
    expect(kinds(items).filter((kind) => kind !== 'task')).toEqual(['working', 'artifact', 'completed']);
    const artifact = items.find((item) => item.kind === 'artifact');
    expect(artifact?.artifact.parts).toEqual([{ kind: 'text', text }]);
  });

  test('a message response is one Message, streamed too', async () => {
    const direct = [{ kind: 'text', text: 'Direct message response' }];
    expect((await talk.reply(said('tck-message-response'))).parts).toEqual(direct);
    const items = await talk.stream(said('tck-message-response'));
    expect(items.map((item) => (item.kind === 'message' ? item.message.parts : item.kind))).toEqual([direct]);
  });

  test('a rejected task is rejected, any other completes', async () => {
    expect((await talk.task(said('tck-reject-task'))).status.state).toBe('rejected');
    expect((await talk.task(said('anything-else'))).status.state).toBe('completed');
  });

  test.each([
    ['tck-input-required', 'input-required'],
    ['tck-auth-required', 'auth-required'],
  ])('%s stays open for a follow-up of any prefix', async (prefix, state) => {
    const first = await talk.task(said(prefix));
    expect(first.status.state).toBe(state);
    const second = await talk.task({ ...said('tck-reject-task'), taskId: first.id });
    expect([second.id, second.contextId, second.status.state]).toEqual([first.id, first.contextId, 'completed']);
  });

  test('an id that is used again with other content is another task', async () => {
    const { messageId } = said('tck-complete-task');
    const first = await talk.task({ text: 'one', messageId });
    const second = await talk.task({ text: 'two', messageId });
    expect(second.id).not.toBe(first.id);
  });
});
