import { describe, expect, test } from 'vitest';
import type { ContextId, MessageId, TaskId } from '../../model/ids.ts';
import { decodeAgentCard } from './client-card.ts';
import {
  decodeListTasksResponse,
  decodeMessage,
  decodeStreamResponse,
  decodeTask,
  encodeSendMessageRequest,
} from './client-codec.ts';
import { decodeSendMessageRequest } from './decode.ts';

const task = {
  id: 't1',
  contextId: 'c1',
  status: {
    state: 'TASK_STATE_INPUT_REQUIRED',
    message: { messageId: 's1', role: 'ROLE_AGENT', parts: [{ text: 'Ship?' }] },
    timestamp: '2026-01-31T12:00:00.005Z',
  },
  artifacts: [
    { artifactId: 'a1', name: 'a.bin', parts: [{ raw: 'QUI=', mediaType: 'x/y' }, { data: null }, { url: 'u' }] },
  ],
  history: [{ messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }], contextId: 'c1', taskId: 't1' }],
  metadata: { k: 1 },
};

describe('a client reads', () => {
  test('a task', () => {
    expect(decodeTask(task)).toEqual({
      id: 't1',
      contextId: 'c1',
      status: {
        state: 'input-required',
        message: { messageId: 's1', role: 'agent', parts: [{ kind: 'text', text: 'Ship?' }] },
        at: Date.UTC(2026, 0, 31, 12, 0, 0, 5),
      },
      artifacts: [
        {
          artifactId: 'a1',
          name: 'a.bin',
          parts: [
            { kind: 'raw', raw: Buffer.from('AB'), mediaType: 'x/y' },
            { kind: 'data', data: null },
            { kind: 'url', url: 'u' },
          ],
          metadata: {},
        },
      ],
      history: [
        { messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: 'hi' }], contextId: 'c1', taskId: 't1' },
      ],
      metadata: { k: 1 },
    });
  });

  test.each([null, undefined, 'x', 5, [], {}, { status: 'working', artifacts: 'none', history: [null, 1] }])(
    'whatever comes as a task: %j',
    (json) => {
      expect(decodeTask(json)).toMatchObject({
        id: '',
        contextId: '',
        status: { state: 'unspecified' },
        artifacts: [],
      });
    },
  );

  test('snake_case and numbers of states', () => {
    expect(decodeTask({ id: 't1', context_id: 'c1', status: { state: 3 } })).toMatchObject({
      contextId: 'c1',
      status: { state: 'completed' },
    });
    expect(decodeTask({ status: { state: 'TASK_STATE_NEW' } }).status.state).toBe('unspecified');
    expect(decodeTask({ status: { state: 99 } }).status.state).toBe('unspecified');
  });

  test('a part of an unknown kind is kept whole, as data', () => {
    const { parts } = decodeMessage({ parts: [{ hologram: 1, mediaType: 'x/y' }, { raw: '***' }, 'odd'] });
    expect(parts).toEqual([
      { kind: 'data', data: { hologram: 1, mediaType: 'x/y' }, mediaType: 'x/y' },
      { kind: 'data', data: { raw: '***' } },
      { kind: 'data', data: 'odd' },
    ]);
  });

  test('the frames of a stream', () => {
    const place = { taskId: 't1', contextId: 'c1' };
    expect(decodeStreamResponse({ task })).toEqual({ kind: 'task', task: decodeTask(task) });
    expect(decodeStreamResponse({ message: task.history[0] })).toMatchObject({
      kind: 'message',
      message: { messageId: 'm1' },
    });
    expect(decodeStreamResponse({ statusUpdate: { ...place, status: task.status, metadata: { k: 1 } } })).toMatchObject(
      {
        kind: 'status',
        ...place,
        status: { state: 'input-required' },
        metadata: { k: 1 },
      },
    );
    expect(decodeStreamResponse({ artifactUpdate: { ...place, artifact: { artifactId: 'a1', parts: [] } } })).toEqual({
      kind: 'artifact',
      ...place,
      artifact: { artifactId: 'a1', parts: [], metadata: {} },
      append: false,
      lastChunk: false,
      metadata: {},
    });
    expect(decodeStreamResponse({ artifact_update: { task_id: 't1', append: true, last_chunk: true } })).toMatchObject({
      kind: 'artifact',
      taskId: 't1',
      append: true,
      lastChunk: true,
    });
    expect(decodeStreamResponse({ news: 1 })).toEqual({ kind: 'unknown' });
  });

  test('a list of tasks', () => {
    expect(
      decodeListTasksResponse({ tasks: [{ id: 't1' }], nextPageToken: 'n', pageSize: 1, totalSize: '9' }),
    ).toMatchObject({
      tasks: [{ id: 't1' }],
      nextPageToken: 'n',
      pageSize: 1,
      totalSize: 9,
    });
    expect(decodeListTasksResponse({})).toEqual({ tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0 });
  });

  test('a card', () => {
    const json = {
      name: 'demo',
      supportedInterfaces: [{ url: 'u', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'demo' }],
      provider: { organization: 'Example', url: 'p' },
      capabilities: { streaming: true, extensions: [{ uri: 'x', params: { a: 1 } }] },
      skills: [{ id: 's', name: 'S', description: 'd', tags: ['t'] }],
      security_schemes: { key: {} },
    };
    expect(decodeAgentCard(json)).toEqual({
      name: 'demo',
      description: '',
      version: '',
      provider: { organization: 'Example', url: 'p' },
      interfaces: [{ url: 'u', binding: 'JSONRPC', protocolVersion: '1.0', tenant: 'demo' }],
      capabilities: {
        streaming: true,
        pushNotifications: false,
        extendedAgentCard: false,
        extensions: [{ uri: 'x', description: '', required: false, params: { a: 1 } }],
      },
      securitySchemes: { key: {} },
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [{ id: 's', name: 'S', description: 'd', tags: ['t'], examples: [] }],
    });
    expect(decodeAgentCard('no card')).toMatchObject({ name: '', interfaces: [], skills: [] });
  });
});

test('a client writes what a server reads', () => {
  const message = {
    messageId: 'm1' as MessageId,
    role: 'user',
    parts: [
      { kind: 'text', text: 'hi' },
      { kind: 'raw', raw: Buffer.from('AB'), filename: 'a.bin' },
      { kind: 'data', data: null },
    ],
    contextId: 'c1' as ContextId,
    taskId: 't1' as TaskId,
    referenceTaskIds: ['t0'],
    extensions: ['e'],
    metadata: { skillId: 'recall' },
  } as const;
  const configuration = { returnImmediately: true, historyLength: 0, acceptedOutputModes: ['text/plain'] };
  const request = { tenant: 'demo', message, configuration, metadata: { a: 1 } };
  expect(decodeSendMessageRequest(JSON.parse(JSON.stringify(encodeSendMessageRequest(request))))).toEqual(request);
  const least = { messageId: 'm1' as MessageId, role: 'user', parts: [{ kind: 'text', text: 'hi' }] } as const;
  expect(JSON.stringify(encodeSendMessageRequest({ message: least }))).toBe(
    '{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}}',
  );
});
