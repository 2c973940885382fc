import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CodedError } from '../../base/errors.ts';
import { clientMessage, doorAgent } from '../../testing/door-agent.ts';
import { call, framesOf, open, type Wire } from '../../testing/door-calls.ts';
import { type ServerWorld, startWorld } from '../../testing/server-world.ts';
import { testAuthenticator } from '../../testing/test-authenticator.ts';

let world: ServerWorld;
beforeAll(async () => {
  world = await startWorld({ agents: [doorAgent(), doorAgent('other')] });
});
afterAll(() => world.close());

const send = async (fields: Record<string, unknown> = {}, path = '/a2a/v1/message:send'): Promise<Wire> =>
  (await call(world, path, { body: { message: clientMessage(fields) } })).json;

describe('routes', () => {
  test.each([
    ['GET', '/a2a/v1/tasks/nope', 404, 'TASK_NOT_FOUND'],
    ['GET', '/a2a/v1/tasks/nope/', 404, 'TASK_NOT_FOUND'],
    ['POST', '/a2a/v1/tasks/nope:cancel', 404, 'TASK_NOT_FOUND'],
    ['GET', '/a2a/v1/tasks/nope:subscribe', 404, 'TASK_NOT_FOUND'],
    ['POST', '/a2a/v1/tasks/nope:subscribe', 404, 'TASK_NOT_FOUND'],
    ['POST', '/a2a/v1/tasks/t/pushNotificationConfigs', 400, 'INVALID_PARAMS'],
    ['GET', '/a2a/v1/tasks/t/pushNotificationConfigs', 400, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    ['GET', '/a2a/v1/tasks/t/pushNotificationConfigs/c', 400, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    ['DELETE', '/a2a/v1/tasks/t/pushNotificationConfigs/c', 400, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    ['GET', '/a2a/v1/extendedAgentCard', 400, 'UNSUPPORTED_OPERATION'],
    ['POST', '/a2a/v1/message:send', 400, 'INVALID_PARAMS'],
    ['POST', '/a2a/v1/message:stream', 400, 'INVALID_PARAMS'],
    ['GET', '/a2a/v1/nothing', 404, 'ROUTE_NOT_FOUND'],
    ['GET', '/a2a/v1', 404, 'ROUTE_NOT_FOUND'],
    ['GET', '/a2a/v1/tasks/%ff', 400, 'INVALID_PARAMS'],
  ])('%s %s is %i %s', async (method, path, status, reason) => {
    for (const tenanted of [
      path,
      path.replace('/a2a/v1', '/a2a/v1/door'),
      path.replace('/a2a/v1', '/agents/door/a2a/v1'),
    ]) {
      const answer = await call(world, tenanted, { method });
      expect([tenanted, answer.status, answer.json.error.details[0].reason]).toEqual([tenanted, status, reason]);
      expect(answer.json.error.code).toBe(status);
      expect(answer.headers['content-type']).toBe('application/a2a+json');
    }
  });

  test.each([
    ['GET', '/a2a/v1/message:send', 'POST, OPTIONS'],
    ['PUT', '/a2a/v1/tasks', 'GET, HEAD, OPTIONS'],
    ['GET', '/a2a/v1/tasks/t:cancel', 'POST, OPTIONS'],
    ['DELETE', '/a2a/v1/tasks/t:subscribe', 'GET, HEAD, POST, OPTIONS'],
    ['POST', '/a2a/v1/door/tasks/t', 'GET, HEAD, OPTIONS'],
  ])('%s %s is 405 and says what the path takes', async (method, path, allow) => {
    const answer = await call(world, path, { method });
    expect([answer.status, answer.headers.allow]).toEqual([405, allow]);
    const options = await call(world, path, { method: 'OPTIONS' });
    expect([options.status, options.headers.allow]).toEqual([204, allow]);
  });

  test('what the listener refused is answered as a status', async () => {
    const fault = new CodedError('request_too_large', { message: 'too large' });
    const response = await world.handle({ path: '/a2a/v1/message:send', method: 'POST', fault });
    expect([response.status, response.headers['content-type']]).toEqual([413, 'application/a2a+json']);
  });

  test('the version is looked at once the route is known', async () => {
    const answer = await call(world, '/a2a/v1/tasks', { headers: { 'a2a-version': '0.3' } });
    expect(answer.json.error.details[0]).toMatchObject({
      reason: 'VERSION_NOT_SUPPORTED',
      metadata: { supportedVersions: '1.0' },
    });
    expect((await call(world, '/a2a/v1/nothing', { headers: { 'a2a-version': '0.3' } })).status).toBe(404);
  });
});

describe('the tenant', () => {
  test('of the path names an agent, and its tasks are not the others’', async () => {
    const { task } = await send({}, '/a2a/v1/other/message:send');
    expect((await call(world, `/a2a/v1/other/tasks/${task.id}`)).json.id).toBe(task.id);
    expect((await call(world, `/agents/other/a2a/v1/tasks/${task.id}`)).json.id).toBe(task.id);
    expect((await call(world, `/a2a/v1/tasks/${task.id}?tenant=other`)).json.id).toBe(task.id);
    expect((await call(world, `/a2a/v1/tasks/${task.id}`)).status).toBe(404);
    expect((await call(world, `/a2a/v1/door/tasks/${task.id}`)).status).toBe(404);
  });

  test.each([
    ['/a2a/v1/nobody/tasks', 404, 'AGENT_NOT_FOUND'],
    ['/a2a/v1/tasks?tenant=nobody', 404, 'AGENT_NOT_FOUND'],
    ['/a2a/v1/other/tasks?tenant=door', 400, 'INVALID_PARAMS'],
    ['/agents/other/a2a/v1/door/tasks', 400, 'INVALID_PARAMS'],
    ['/agents/nobody/a2a/v1/tasks', 404, 'AGENT_NOT_FOUND'],
  ])('%s is %i %s', async (path, status, reason) => {
    const { status: given, json } = await call(world, path);
    expect([given, json.error.details[0].reason]).toEqual([status, reason]);
  });

  test('of the path and of the body must be the same', async () => {
    const body = { message: clientMessage(), tenant: 'door' };
    const answer = await call(world, '/a2a/v1/other/message:send', { body });
    expect(answer.json.error.details[1].fieldViolations).toEqual([
      { field: 'tenant', description: 'must be the same in the path and in the request' },
    ]);
    expect((await call(world, '/a2a/v1/door/message:send', { body })).status).toBe(200);
  });
});

describe('answers', () => {
  test('a task is written strictly', async () => {
    const { task } = await send();
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts[0].parts).toEqual([{ text: 'echo: hi' }]);
    expect(task.history[0].role).toBe('ROLE_USER');
    expect(JSON.stringify(task)).not.toMatch(/"(kind|final)"/);
  });

  test('a list says its page, whole', async () => {
    await send();
    const { json } = await call(world, '/a2a/v1/tasks?pageSize=1&historyLength=0');
    expect(Object.keys(json)).toEqual(['tasks', 'nextPageToken', 'pageSize', 'totalSize']);
    expect(json.tasks[0].history).toBeUndefined();
    expect(json.tasks[0].artifacts).toBeUndefined();
    const next = await call(world, `/a2a/v1/tasks?pageSize=1&pageToken=${encodeURIComponent(json.nextPageToken)}`);
    expect(next.json.totalSize).toBe(json.totalSize);
    expect(next.json.tasks[0].id).not.toBe(json.tasks[0].id);
  });

  test('a stream’s frames are StreamResponses', async () => {
    const { text } = await call(world, '/a2a/v1/message:stream', { body: { message: clientMessage() } });
    expect(framesOf(text).map(({ data }) => Object.keys(data)[0])).toEqual([
      'task',
      'statusUpdate',
      'artifactUpdate',
      'statusUpdate',
    ]);
  });

  test('cancel takes no body, or an empty object', async () => {
    for (const body of [undefined, {}]) {
      const { task } = await send({ skill: 'ask' });
      const answer = await call(world, `/a2a/v1/tasks/${task.id}:cancel`, {
        method: 'POST',
        ...(body === undefined ? {} : { body }),
      });
      expect(answer.json.status.state).toBe('TASK_STATE_CANCELED');
    }
  });

  test('a subscription to what has ended names the state and what to call', async () => {
    const { task } = await send();
    const { json } = await call(world, `/a2a/v1/tasks/${task.id}:subscribe`);
    expect(json.error.details[0].reason).toBe('UNSUPPORTED_OPERATION');
    expect(json.error.message).toContain('completed');
    expect(json.error.message).toContain('GetTask');
  });

  test('a push config with a send is refused, and nothing is stored', async () => {
    const before = (await call(world, '/a2a/v1/tasks')).json.totalSize;
    const configuration = { taskPushNotificationConfig: { url: 'https://example.com/hook' } };
    const answer = await call(world, '/a2a/v1/message:send', { body: { message: clientMessage(), configuration } });
    expect(answer.json.error.details[0].reason).toBe('PUSH_NOTIFICATION_NOT_SUPPORTED');
    expect((await call(world, '/a2a/v1/tasks')).json.totalSize).toBe(before);
  });

  test.each([
    [[{ raw: 'AAEC', mediaType: 'IMAGE/png; a=b' }], 200],
    [[{ url: 'https://example.com/a' }], 200],
    [[{ text: 'x' }], 400],
    [[{ raw: 'AAEC', mediaType: 'imagepng' }], 400],
  ])('parts %j for a skill that takes images are %i', async (parts, status) => {
    const answer = await call(world, '/a2a/v1/message:send', {
      body: { message: clientMessage({ skill: 'images', parts }) },
    });
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.json.error.details[0].reason).toBe('CONTENT_TYPE_NOT_SUPPORTED');
  });
});

describe('a stream that the server ends', () => {
  test('has a last word in its own shape', async () => {
    const stopping = await startWorld({ agents: [doorAgent()] });
    const body = { message: clientMessage({ skill: 'hold' }) };
    const { json } = await call(stopping, '/a2a/v1/message:send', {
      body: { ...body, configuration: { returnImmediately: true } },
    });
    const paths = [`/a2a/v1/tasks/${json.task.id}:subscribe`, `/v1/tasks/${json.task.id}/events`];
    const reading = paths.map((path) => call(stopping, path, { headers: { accept: 'text/event-stream' } }));
    const rpcReading = call(stopping, '/a2a/jsonrpc', {
      body: { jsonrpc: '2.0', id: 9, method: 'SubscribeToTask', params: { id: json.task.id } },
    });
    const first = await open(stopping, paths[0] ?? '');
    expect(first.status).toBe(200);
    await stopping.close();
    const [rest, native] = (await Promise.all(reading)).map(({ text }) => framesOf(text).at(-1));
    expect(rest?.data.error).toMatchObject({ code: 503, status: 'UNAVAILABLE' });
    expect(native).toMatchObject({ event: 'going-away', retry: '1000', data: { taskId: json.task.id } });
    expect(framesOf((await rpcReading).text).at(-1)?.data).toMatchObject({
      jsonrpc: '2.0',
      id: 9,
      error: { code: -32000 },
    });
  });
});

test('who does not say who they are learns nothing but how to', async () => {
  const guarded = await startWorld({ agents: [doorAgent()], auth: testAuthenticator() });
  try {
    for (const path of ['/a2a/v1/tasks', '/a2a/v1/nothing', '/v1/tasks', '/v1/nothing', '/metrics']) {
      const answer = await call(guarded, path);
      expect([path, answer.status, answer.headers['www-authenticate']]).toEqual([path, 401, 'Bearer realm="test"']);
      expect(answer.json.error.details[0].reason).toBe('UNAUTHENTICATED');
    }
    const { json } = await call(guarded, '/.well-known/agent-card.json');
    expect(json.securityRequirements).toEqual([{ schemes: { bearer: {} } }]);
  } finally {
    await guarded.close();
  }
});

test('who may not call an operation is told so, and what they may stays open', async () => {
  const limited = await startWorld({
    agents: [doorAgent()],
    auth: testAuthenticator(),
    permits: (principal, operation) => principal.id === 'ann' || operation === 'listTasks',
  });
  try {
    const as = (name: string) => ({ headers: { authorization: `Bearer ${name}` } });
    expect((await call(limited, '/a2a/v1/tasks', as('bob'))).status).toBe(200);
    const refused = await call(limited, '/a2a/v1/message:send', { ...as('bob'), body: { message: clientMessage() } });
    expect([refused.status, refused.json.error.details[0].reason]).toEqual([403, 'PERMISSION_DENIED']);
    expect(
      (await call(limited, '/a2a/v1/message:send', { ...as('ann'), body: { message: clientMessage() } })).status,
    ).toBe(200);
  } finally {
    await limited.close();
  }
});
