import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServerWorld, startWorld } from '../../src/testing/server-world.ts';
import { verifies } from '../requirements.ts';
import { doorMakers, jsonRpcDoor, messageOf, okOf, refusalOf, restDoor, type Wire } from './door.ts';
import { Gates, scenarioAgent } from './scenario-agent.ts';

let world: ServerWorld;
beforeAll(async () => {
  world = await startWorld({ agents: [scenarioAgent(new Gates())] });
});
afterAll(() => world.close());

async function rpc(body: string, headers: Record<string, string> = { 'a2a-version': '1.0' }): Promise<Wire> {
  const response = await fetch(`${world.url}/a2a/jsonrpc`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
  return response.json();
}

const totalSize = async () => okOf(await jsonRpcDoor({ url: world.url }).list()).totalSize;

describe('JSON-RPC', () => {
  test.each([
    ['{', -32700, null],
    ['', -32700, null],
    ['[]', -32600, null],
    ['[{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}]', -32600, null],
    ['"text"', -32600, null],
    ['{"jsonrpc":"2.0","id":7}', -32600, 7],
    ['{"jsonrpc":"1.0","id":7,"method":"GetTask","params":{}}', -32600, 7],
    ['{"jsonrpc":"2.0","id":{},"method":"GetTask","params":{}}', -32600, null],
    ['{"jsonrpc":"2.0","id":"a","method":"Nope","params":{}}', -32601, 'a'],
    ['{"jsonrpc":"2.0","id":"a","method":"message/send","params":{}}', -32601, 'a'],
    ['{"jsonrpc":"2.0","id":0,"method":"GetTask","params":null}', -32602, 0],
    ['{"jsonrpc":"2.0","id":1.5,"method":"GetTask","params":[]}', -32602, 1.5],
    ['{"jsonrpc":"2.0","id":"","method":"GetTask","params":{"id":7}}', -32602, ''],
    ['{"jsonrpc":"2.0","id":null,"method":"GetTask","params":{"id":"nope"}}', -32001, null],
  ])(`%s is %i ${verifies('error.json-rpc')}`, async (body, code, id) => {
    const answer = await rpc(body);
    expect(answer.jsonrpc).toBe('2.0');
    expect(answer.error.code).toBe(code);
    expect(answer.id).toBe(id);
    for (const detail of answer.error.data ?? []) expect(detail['@type']).toMatch(/^type\.googleapis\.com\//);
  });

  test(`nesting without end is refused, and the server stays up ${verifies('error.validation')}`, async () => {
    const deep = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"d","role":"ROLE_USER","parts":[{"data":${'['.repeat(20_000)}${']'.repeat(20_000)}}]}}}`;
    const before = await totalSize();
    expect((await rpc(deep)).error.code).toBeLessThanOrEqual(-32600);
    expect(await totalSize()).toBe(before);
  });
});

test(`every A2A error has its code and its reason on both bindings ${verifies('error.mapping', 'error.info', 'capability.push', 'capability.extended-card')}`, async () => {
  const expected = {
    TASK_NOT_FOUND: { jsonRpc: -32001, http: 404 },
    TASK_NOT_CANCELABLE: { jsonRpc: -32002, http: 400 },
    PUSH_NOTIFICATION_NOT_SUPPORTED: { jsonRpc: -32003, http: 400 },
    UNSUPPORTED_OPERATION: { jsonRpc: -32004, http: 400 },
    CONTENT_TYPE_NOT_SUPPORTED: { jsonRpc: -32005, http: 400 },
    VERSION_NOT_SUPPORTED: { jsonRpc: -32009, http: 400 },
  } as const;
  for (const makeDoor of doorMakers) {
    const door = makeDoor({ url: world.url });
    const done = okOf(await door.send({ skill: 'echo' })).task.id;
    const refusals = [
      await door.get('nope'),
      await door.cancel(done),
      await door.push(done),
      await door.subscribe(done),
      await door.extendedCard(),
      await door.send({ skill: 'picky', parts: [{ text: 'x', mediaType: 'text/plain' }] }),
    ];
    for (const refused of refusals.map(refusalOf)) {
      const row = expected[refused.reason as keyof typeof expected];
      expect(door.name === 'jsonrpc' ? refused.body.error.code : refused.status, refused.reason).toBe(
        door.name === 'jsonrpc' ? row.jsonRpc : row.http,
      );
      const details = refused.body.error.data ?? refused.body.error.details;
      expect(details[0]).toMatchObject({
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: refused.reason,
        domain: 'a2a-protocol.org',
      });
    }
  }
});

describe('versions', () => {
  const get = (headers: Record<string, string>, query = '') => fetch(`${world.url}/a2a/v1/tasks${query}`, { headers });

  test.each(['1.0', '1.0.0', '1.0.7'])(`%s is served ${verifies('version.supported')}`, async (version) => {
    expect((await get({ 'a2a-version': version })).status).toBe(200);
    expect(
      (await rpc('{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}', { 'a2a-version': version })).error,
    ).toBeUndefined();
  });

  test.each(['0.3', '1.00', '1.01', '0.30', '0.31', '99.0', 'abc', '1', '1.1'])(
    `%s is refused ${verifies('version.unsupported')}`,
    async (version) => {
      const response = await get({ 'a2a-version': version });
      expect(response.status).toBe(400);
      expect(await response.text()).toContain('VERSION_NOT_SUPPORTED');
      expect(
        (await rpc('{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}', { 'a2a-version': version })).error.code,
      ).toBe(-32009);
    },
  );

  test(`none means 0.3, and the text says what to send ${verifies('version.empty')}`, async () => {
    const text = await (await get({})).text();
    expect(text).toContain('No A2A-Version was sent, which means 0.3; this server speaks 1.0.');
    expect((await rpc('{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}', {})).error.code).toBe(-32009);
  });

  test(`it may come in the query; the header wins ${verifies('version.query')}`, async () => {
    expect((await get({}, '?A2A-Version=1.0')).status).toBe(200);
    expect((await get({ 'a2a-version': '9.9' }, '?A2A-Version=1.0')).status).toBe(400);
  });
});

describe('REST', () => {
  const headers = { 'a2a-version': '1.0' };

  test(`takes both content types and answers a2a+json ${verifies('rest.content-type')}`, async () => {
    for (const type of ['application/json', 'application/a2a+json', 'application/a2a+json; charset=utf-8']) {
      const response = await fetch(`${world.url}/a2a/v1/message:send`, {
        method: 'POST',
        headers: { ...headers, 'content-type': type },
        body: JSON.stringify({ message: messageOf({ skill: 'echo' }) }),
      });
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toMatch(/^application\/a2a\+json/);
    }
    const refused = await fetch(`${world.url}/a2a/v1/message:send`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'text/plain' },
      body: 'x',
    });
    expect(refused.status).toBe(415);
    expect(refused.headers.get('content-type')).not.toMatch(/^text/);
  });

  test(`serves every route with and without a tenant ${verifies('rest.routes')}`, async () => {
    const { id } = okOf(await restDoor({ url: world.url }).send({ skill: 'ask' })).task;
    for (const tenant of ['', '/scenario']) {
      const base = `${world.url}/a2a/v1${tenant}`;
      const status = async (path: string, method = 'GET') =>
        (
          await fetch(base + path, {
            method,
            headers: { ...headers, 'content-type': 'application/json' },
            ...(method === 'POST' ? { body: '{}' } : {}),
          })
        ).status;
      expect(await status('/tasks')).toBe(200);
      expect(await status(`/tasks/${id}`)).toBe(200);
      expect(await status('/extendedAgentCard')).toBe(400);
      expect(await status(`/tasks/${id}/pushNotificationConfigs`)).toBe(400);
      expect(await status(`/tasks/${id}/pushNotificationConfigs/x`, 'DELETE')).toBe(400);
      for (const method of ['GET', 'POST']) {
        const abort = new AbortController();
        const stream = await fetch(`${base}/tasks/${id}:subscribe`, { method, headers, signal: abort.signal });
        expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/);
        abort.abort();
      }
    }
    expect((await fetch(`${world.url}/a2a/v1/nobody/tasks`, { headers })).status).toBe(404);
    const tenant = await rpc('{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"tenant":"nobody"}}');
    expect(tenant.error.code).toBe(-32602);
    expect(JSON.stringify(tenant)).toContain('tenant');
  });

  test('an id with a colon or an escaped slash never misroutes', async () => {
    for (const id of ['a:subscribe', 'a%2Fb', 'a:cancel', '..%2f..', 'tasks']) {
      const response = await fetch(`${world.url}/a2a/v1/tasks/${encodeURIComponent(decodeURIComponent(id))}`, {
        headers,
      });
      expect(response.status, id).toBe(404);
      expect(await response.text()).toContain('TASK_NOT_FOUND');
    }
  });

  test(`a body over the limit is refused, and the server stays up ${verifies('error.validation')}`, async () => {
    const before = await totalSize();
    const response = await fetch(`${world.url}/a2a/v1/message:send`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ message: messageOf({ text: 'x'.repeat(17 * 1024 * 1024) }) }),
    }).catch(() => undefined);
    if (response !== undefined) expect(response.status).toBe(413);
    expect(await totalSize()).toBe(before);
  });
});

describe('the card', () => {
  test(`stands at its address, names what is on, and is cached ${verifies('card.well-known', 'card.interfaces', 'card.caching')}`, async () => {
    const response = await fetch(`${world.url}/.well-known/agent-card.json`);
    const card = (await response.json()) as Wire;
    expect(card.supportedInterfaces.map((entry: Wire) => entry.protocolBinding)).toEqual(['JSONRPC', 'HTTP+JSON']);
    for (const entry of card.supportedInterfaces) expect(entry.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/a2a\//);
    expect(card.capabilities).toMatchObject({ streaming: true, pushNotifications: false });
    expect(card.skills.map((skill: Wire) => skill.id)).toContain('echo');
    expect(response.headers.get('cache-control')).toContain('max-age');
    const etag = response.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"/);
    const again = await fetch(`${world.url}/.well-known/agent-card.json`, { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
  });
});
