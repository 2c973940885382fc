import { describe, expect, test } from 'vitest';
import { instant } from '../../base/clock.ts';
import type { Artifact } from '../../model/artifact.ts';
import type { ArtifactId, BlobNo, ContextId, MessageId, Seq, TaskId, ThreadId, TurnNo } from '../../model/ids.ts';
import type { Message, Part } from '../../model/message.ts';
import { splitAtBlobs } from './blob-marks.ts';
import { encodeListedTask, encodeMessage, encodeSendMessageResponse, encodeTask, type TaskSnapshot } from './encode.ts';
import { encodePart } from './parts.ts';

const task = {
  id: 't1' as TaskId,
  contextId: 'c1' as ContextId,
  threadId: 'h1' as ThreadId,
  state: 'working',
  stateAt: instant(Date.UTC(2026, 0, 31, 12)),
} as const;
const correlation = { 'https://holdfast.dev/a2a/v1/correlation': { sessionId: 'c1', taskId: 't1', threadId: 'h1' } };

function message(id: string, role: Message['role'], ...parts: Part[]): Message {
  return { messageId: id as MessageId, role, parts };
}

function artifact(id: string, origin: Artifact['origin'], ...parts: Part[]): Artifact {
  return { artifactId: id as ArtifactId, origin, turnNo: 1 as TurnNo, header: {}, baseSeq: 1 as Seq, parts };
}

const text = (said: string): Part => ({ kind: 'text', text: said });

const snapshot: TaskSnapshot = {
  task,
  content: {
    statusMessage: message('s1', 'agent', text('busy')),
    history: [
      message('m1', 'user', text('one')),
      message('m2', 'user', text('two')),
      message('m3', 'user', text('three')),
    ],
    artifacts: [artifact('a1', 'output', text('out')), artifact('a2', 'input', text('in'))],
  },
};

describe('a task', () => {
  test('without content', () => {
    const bare = { task, content: { history: [], artifacts: [] } };
    expect(JSON.stringify(encodeTask(bare, { artifacts: true }))).toBe(
      '{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-31T12:00:00.000Z"},' +
        '"metadata":{"https://holdfast.dev/a2a/v1/correlation":{"sessionId":"c1","taskId":"t1","threadId":"h1"}}}',
    );
  });

  test('with content: input artifacts are not shown, every message says where it belongs', () => {
    expect(encodeTask(snapshot, { artifacts: true, historyLength: 1 })).toEqual({
      id: 't1',
      contextId: 'c1',
      status: {
        state: 'TASK_STATE_WORKING',
        message: { messageId: 's1', contextId: 'c1', taskId: 't1', role: 'ROLE_AGENT', parts: [{ text: 'busy' }] },
        timestamp: '2026-01-31T12:00:00.000Z',
      },
      artifacts: [{ artifactId: 'a1', parts: [{ text: 'out' }] }],
      history: [{ messageId: 'm3', contextId: 'c1', taskId: 't1', role: 'ROLE_USER', parts: [{ text: 'three' }] }],
      metadata: correlation,
    });
  });

  test.each([
    [undefined, ['m1', 'm2', 'm3']],
    [0, undefined],
    [1, ['m3']],
    [2, ['m2', 'm3']],
    [3, ['m1', 'm2', 'm3']],
    [2 ** 31 - 1, ['m1', 'm2', 'm3']],
  ])('a history length of %j shows %j', (historyLength, ids) => {
    const options = { artifacts: false, ...(historyLength === undefined ? {} : { historyLength }) };
    const history = encodeTask(snapshot, options).history as { messageId: string }[] | undefined;
    expect(history?.map(({ messageId }) => messageId)).toEqual(ids);
  });

  test('artifacts that were not asked for are left out, not empty', () => {
    expect(encodeTask(snapshot, { artifacts: false })).not.toHaveProperty('artifacts');
  });

  test('its own metadata stays beside ours, and cannot pass for it', () => {
    const key = 'https://holdfast.dev/a2a/v1/correlation';
    const own = { ...snapshot, task: { ...task, trace: 'f'.repeat(32), metadata: { mine: 1, [key]: 'forged' } } };
    expect(encodeTask(own, { artifacts: false }).metadata).toEqual({
      mine: 1,
      [key]: { sessionId: 'c1', taskId: 't1', threadId: 'h1', traceId: 'f'.repeat(32) },
    });
  });

  test.each([
    ['submitted', 'TASK_STATE_SUBMITTED'],
    ['working', 'TASK_STATE_WORKING'],
    ['completed', 'TASK_STATE_COMPLETED'],
    ['failed', 'TASK_STATE_FAILED'],
    ['canceled', 'TASK_STATE_CANCELED'],
    ['input-required', 'TASK_STATE_INPUT_REQUIRED'],
    ['rejected', 'TASK_STATE_REJECTED'],
    ['auth-required', 'TASK_STATE_AUTH_REQUIRED'],
  ] as const)('the state %s is written %s', (state, name) => {
    const { status } = encodeTask({ ...snapshot, task: { ...task, state } }, { artifacts: false });
    expect(status).toMatchObject({ state: name });
  });
});

describe('a message', () => {
  test('says its context, and its task where there is one', () => {
    const hello = message('m1', 'agent', text('hello'));
    expect(encodeMessage(hello, { contextId: 'c1' as ContextId })).toEqual({
      messageId: 'm1',
      contextId: 'c1',
      role: 'ROLE_AGENT',
      parts: [{ text: 'hello' }],
    });
  });

  test('keeps what its author said', () => {
    const full: Message = {
      ...message('m1', 'user', text('hello')),
      contextId: 'c1' as ContextId,
      taskId: 't1' as TaskId,
      referenceTaskIds: ['t0'],
      extensions: ['https://example.com/x'],
      metadata: { a: null },
    };
    expect(JSON.stringify(encodeMessage(full, { contextId: 'c9' as ContextId, taskId: 't9' as TaskId }))).toBe(
      '{"messageId":"m1","contextId":"c1","taskId":"t1","role":"ROLE_USER","parts":[{"text":"hello"}],"metadata":{"a":null},"extensions":["https://example.com/x"],"referenceTaskIds":["t0"]}',
    );
  });

  test('has a part, always', () => {
    expect(encodeMessage(message('m1', 'agent'), { contextId: 'c1' as ContextId }).parts).toEqual([{ text: '' }]);
  });
});

describe('a part', () => {
  test.each<[Part, string]>([
    [{ kind: 'text', text: 'a\u0000\ud800' }, '{"text":"a\\u0000\\ud800"}'],
    [{ kind: 'raw', raw: Uint8Array.of(251, 255, 191, 1) }, '{"raw":"+/+/AQ=="}'],
    [{ kind: 'raw', raw: Buffer.from('xxABCxx').subarray(2, 5) }, '{"raw":"QUJD"}'],
    [{ kind: 'url', url: 'https://example.com' }, '{"url":"https://example.com"}'],
    [{ kind: 'data', data: null }, '{"data":null}'],
    [{ kind: 'data', data: { b: 1, a: [true] } }, '{"data":{"b":1,"a":[true]}}'],
    [
      { kind: 'withheld', of: 'text', mediaType: 'text/plain' },
      '{"data":{"withheld":"text"},"mediaType":"text/plain"}',
    ],
    [
      { kind: 'text', text: 'a', metadata: {}, filename: 'a.txt', mediaType: 'text/plain' },
      '{"text":"a","metadata":{},"filename":"a.txt","mediaType":"text/plain"}',
    ],
  ])('%j', (part, written) => {
    expect(JSON.stringify(encodePart(part))).toBe(written);
  });

  test('a blob is a mark, where whoever sends the text puts its bytes', () => {
    const text = JSON.stringify(encodePart({ kind: 'blob', blobNo: 1 as BlobNo, bytes: 5, sha256: 'ab' }));
    expect(splitAtBlobs(text)).toEqual(['{"raw":"', { blobNo: 1, bytes: 5 }, '"}']);
  });
});

describe('answers', () => {
  test('a send answers a task with all its artifacts, or one message', () => {
    expect(encodeSendMessageResponse({ task: snapshot, historyLength: 0 })).toEqual({
      task: encodeTask(snapshot, { artifacts: true, historyLength: 0 }),
    });
    expect(
      encodeSendMessageResponse({ message: message('m2', 'agent', text('hi')), contextId: 'c1' as ContextId }),
    ).toEqual({
      message: { messageId: 'm2', contextId: 'c1', role: 'ROLE_AGENT', parts: [{ text: 'hi' }] },
    });
  });

  test('a task in a list shows artifacts where they were asked for, and says so where there are none', () => {
    const bare = { task, content: { history: [], artifacts: [] } };
    const full = { artifacts: true, historyLength: 0 };
    expect(encodeListedTask(snapshot, full)).toMatchObject({ artifacts: [{ artifactId: 'a1' }] });
    expect(encodeListedTask(bare, full)).toMatchObject({ artifacts: [] });
    for (const each of [snapshot, bare]) {
      expect(encodeListedTask(each, { artifacts: false })).not.toHaveProperty('artifacts');
    }
  });
});
