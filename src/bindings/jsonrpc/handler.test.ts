import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CodedError } from '../../base/errors.ts';
import { clientMessage, doorAgent } from '../../testing/door-agent.ts';
import { call, framesOf, rpc, type Wire } from '../../testing/door-calls.ts';
import { type ServerWorld, startWorld } from '../../testing/server-world.ts';
import { testAuthenticator } from '../../testing/test-authenticator.ts';

let world: ServerWorld;
beforeAll(async () => {
  world = await startWorld({ agents: [doorAgent(), doorAgent('other')] });
});
afterAll(() => world.close());

const request = (method: string, params: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });

describe('an envelope', () => {
  test.each([
    ['a body that is no JSON', '{"jsonrpc"', -32700, null, 200],
    ['an empty body', '', -32700, null, 200],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"GetTask"}]', -32600, null, 200],
    ['an empty batch', '[]', -32600, null, 200],
    ['a number', '7', -32600, null, 200],
    ['null', 'null', -32600, null, 200],
    ['another version', '{"jsonrpc":"1.0","id":3,"method":"GetTask"}', -32600, 3, 200],
    ['no version', '{"id":3,"method":"GetTask"}', -32600, 3, 200],
    ['no method', '{"jsonrpc":"2.0","id":3}', -32600, 3, 200],
    ['a method that is no text', '{"jsonrpc":"2.0","id":3,"method":7}', -32600, 3, 200],
    ['an object as id', '{"jsonrpc":"2.0","id":{"a":1},"method":"GetTask"}', -32600, null, 200],
    ['a list as id', '{"jsonrpc":"2.0","id":[1],"method":"GetTask"}', -32600, null, 200],
    ['true as id', '{"jsonrpc":"2.0","id":true,"method":"GetTask"}', -32600, null, 200],
    ['no id', '{"jsonrpc":"2.0","method":"GetTask"}', -32600, null, 200],
    ['a method of Object', '{"jsonrpc":"2.0","id":3,"method":"constructor"}', -32601, 3, 200],
    ['a lower-case method', '{"jsonrpc":"2.0","id":3,"method":"getTask"}', -32601, 3, 200],
  ])('%s', async (_what, body, code, id, status) => {
    const answer = await rpc(world, body);
    expect([answer.json.error.code, answer.json.id, answer.status]).toEqual([code, id, status]);
    expect(Object.keys(answer.json)).toEqual(['jsonrpc', 'id', 'error']);
  });

  test.each([0, '', 1.5, null, 'x', -1, 2 ** 53 - 1])('the id %j comes back', async (id) => {
    expect((await rpc(world, request('ListTasks', {}, id))).json).toMatchObject({ jsonrpc: '2.0', id });
    expect((await rpc(world, request('Nope', {}, id))).json).toMatchObject({ jsonrpc: '2.0', id });
  });

  test.each([null, [], 'x', 7, true])('params %j are refused', async (params) => {
    const { json } = await rpc(world, request('GetTask', params));
    expect(json.error.code).toBe(-32602);
  });

  test('params may be left out where nothing is needed', async () => {
    const { json } = await rpc(world, { jsonrpc: '2.0', id: 1, method: 'ListTasks' });
    expect(json.result.pageSize).toBe(50);
  });
});

test.each([
  ['message/send', 'SendMessage'],
  ['message/stream', 'SendStreamingMessage'],
  ['tasks/get', 'GetTask'],
  ['tasks/cancel', 'CancelTask'],
  ['tasks/resubscribe', 'SubscribeToTask'],
  ['agent/getAuthenticatedExtendedCard', 'GetExtendedAgentCard'],
])('%s names the method of today', async (former, today) => {
  const { json } = await rpc(world, request(former, {}));
  expect(json.error.code).toBe(-32601);
  expect(json.error.message).toContain(`"${today}"`);
});

describe('the transport has a status of its own', () => {
  test('another method is 405 and says which', async () => {
    const answer = await call(world, '/a2a/jsonrpc', { method: 'GET' });
    expect([answer.status, answer.headers.allow, answer.json.error.code]).toEqual([405, 'POST, OPTIONS', -32600]);
  });

  test('another content type is 415', async () => {
    const answer = await rpc(world, '{}', { 'content-type': 'text/plain' });
    expect([answer.status, answer.json.error.code, answer.headers['content-type']]).toEqual([
      415,
      -32005,
      'application/json',
    ]);
  });

  test('what the listener refused is answered in the envelope', async () => {
    const fault = new CodedError('request_too_large', { message: 'too large' });
    const response = await world.handle({ path: '/a2a/jsonrpc', method: 'POST', fault });
    expect(response.status).toBe(413);
    expect(JSON.parse(response.body as string)).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32600 } });
  });

  test('a trailing slash is the same door', async () => {
    const answer = await call(world, '/a2a/jsonrpc/', { body: request('ListTasks', {}) });
    expect(answer.json.result.tasks).toBeDefined();
  });
});

describe('streams', () => {
  test('each frame is a response object under a cursor, and nothing of older versions', async () => {
    const message = clientMessage();
    const answer = await rpc(world, request('SendStreamingMessage', { message }, 'a"b'));
    expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    const frames = framesOf(answer.text);
    expect(frames.map((frame) => frame.data.id)).toEqual(frames.map(() => 'a"b'));
    expect(frames.map((frame) => Object.keys(frame.data.result)[0])).toEqual([
      'task',
      'statusUpdate',
      'artifactUpdate',
      'statusUpdate',
    ]);
    expect(frames.every((frame) => /^[0-9a-zA-Z]+-\d+$/.test(frame.id ?? '') && frame.event === undefined)).toBe(true);
    expect(answer.text).not.toMatch(/"(kind|final)"/);
  });

  test('a reply is exactly one message', async () => {
    const { text } = await rpc(world, request('SendStreamingMessage', { message: clientMessage({ skill: 'ping' }) }));
    const frames = framesOf(text);
    expect(frames).toHaveLength(1);
    expect(frames[0]?.data.result.message.parts).toEqual([{ text: 'pong hi' }]);
  });

  test('what is wrong before the first frame is a plain error', async () => {
    const answer = await rpc(world, request('SubscribeToTask', { id: 'nope' }));
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.json.error.code).toBe(-32001);
  });

  test('historyLength counts for the first task', async () => {
    const params = { message: clientMessage(), configuration: { historyLength: 0 } };
    const { text } = await rpc(world, request('SendStreamingMessage', params));
    expect(framesOf(text)[0]?.data.result.task.history).toBeUndefined();
  });
});

describe('the tenant', () => {
  const send = async (path: string, tenant?: string): Promise<Wire> =>
    (
      await call(world, path, {
        body: request('SendMessage', { message: clientMessage(), ...(tenant === undefined ? {} : { tenant }) }),
      })
    ).json;

  test('names an agent; none is the default one', async () => {
    const { result } = await send('/a2a/jsonrpc', 'other');
    const get = (tenant?: string) =>
      rpc(world, request('GetTask', { id: result.task.id, ...(tenant === undefined ? {} : { tenant }) }));
    expect((await get('other')).json.result.id).toBe(result.task.id);
    expect((await get()).json.error.code).toBe(-32001);
    expect((await get('door')).json.error.code).toBe(-32001);
  });

  test('that nobody is called by is InvalidParams on tenant', async () => {
    const { error } = await send('/a2a/jsonrpc', 'nobody');
    expect(error.code).toBe(-32602);
    expect(error.data[1].fieldViolations[0].field).toBe('tenant');
  });

  test('must be the agent of the path, or absent', async () => {
    expect((await send('/agents/other/a2a/jsonrpc')).result.task).toBeDefined();
    expect((await send('/agents/other/a2a/jsonrpc', 'other')).result.task).toBeDefined();
    expect((await send('/agents/other/a2a/jsonrpc', 'door')).error.data[1].fieldViolations[0].field).toBe('tenant');
  });
});

test('extensions that we have are echoed, others are not', async () => {
  const ours = 'https://holdfast.dev/a2a/v1/skills';
  const answer = await rpc(world, request('ListTasks', {}), { 'a2a-extensions': `https://example.com/x, ${ours}` });
  expect(answer.headers['a2a-extensions']).toBe(ours);
  const plain = await rpc(world, request('ListTasks', {}), { 'a2a-extensions': 'https://example.com/x' });
  expect(plain.headers['a2a-extensions']).toBeUndefined();
});

test('who does not say who they are learns nothing but how to', async () => {
  const guarded = await startWorld({ agents: [doorAgent()], auth: testAuthenticator() });
  try {
    for (const headers of [{}, { authorization: 'Bearer expired' }, { authorization: 'Basic x' }]) {
      const answer = await rpc(guarded, '{', headers);
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer realm="test"']);
      expect(answer.json).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32000 } });
      expect(answer.json.error.data[0].reason).toBe('UNAUTHENTICATED');
    }
  } finally {
    await guarded.close();
  }
});
