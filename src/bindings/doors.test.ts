import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Scope } from '../model/scope.ts';
import { doorAgent } from '../testing/door-agent.ts';
import { call, type Wire } from '../testing/door-calls.ts';
import { type ServerWorld, startWorld } from '../testing/server-world.ts';

const CARD = '/.well-known/agent-card.json';
let world: ServerWorld;
beforeAll(async () => {
  world = await startWorld({ agents: [doorAgent(), doorAgent('other')], config: { cors: ['https://app.example'] } });
});
afterAll(() => world.close());

test('a scope that no database would index is refused by name', async () => {
  const caller = { principal: { id: 'ann' }, scope: 'x'.repeat(1_025) as Scope };
  const long = await startWorld({
    agents: [doorAgent()],
    auth: { name: 'long', authenticate: () => Promise.resolve(caller) },
  });
  const { status, json } = await call(long, '/v1/tasks');
  expect([status, json.error.message]).toEqual([
    400,
    'scope: must have at most 1024 bytes in UTF-8; this one has 1025',
  ]);
  await long.close();
});

describe('the card', () => {
  test('of the default agent stands at the well-known address, each agent’s under its own', async () => {
    const { json } = await call(world, CARD);
    expect(json.name).toBe('door');
    expect(json.supportedInterfaces).toEqual([
      { url: `${world.url}/a2a/jsonrpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${world.url}/a2a/v1`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ]);
    expect(json.capabilities).toMatchObject({ streaming: true, pushNotifications: false, extendedAgentCard: false });
    const other = await call(world, `/agents/other${CARD}`);
    expect(other.json.supportedInterfaces[0].url).toBe(`${world.url}/agents/other/a2a/jsonrpc`);
    expect((await call(world, `/agents/nobody${CARD}`)).status).toBe(404);
  });

  test('says what each skill takes and returns', async () => {
    const { json } = await call(world, CARD);
    const skills = json.capabilities.extensions[0].params.skills;
    expect(skills.typed.input).toMatchObject({ type: 'object', properties: { count: { type: 'number' } } });
    expect(skills.typed.output).toMatchObject({ properties: { doubled: { type: 'number' } } });
    expect(skills.ping).toEqual({ kind: 'reply' });
  });

  test('is cached under a strong tag that a restart keeps and a change alters', async () => {
    const first = await call(world, CARD);
    expect(first.headers['cache-control']).toBe('public, max-age=300');
    expect(first.headers.etag).toMatch(/^"[A-Za-z0-9_-]{43}"$/);
    expect(first.headers['last-modified']).toMatch(/GMT$/);
    const etag = first.headers.etag ?? '';
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await call(world, CARD, { headers: { 'if-none-match': tag } });
      expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag]);
    }
    expect((await call(world, CARD, { headers: { 'if-none-match': '"x"' } })).status).toBe(200);
    const modified = first.headers['last-modified'] ?? '';
    expect((await call(world, CARD, { headers: { 'if-modified-since': modified } })).status).toBe(304);
    expect(
      (await call(world, CARD, { headers: { 'if-modified-since': modified, 'if-none-match': '"x"' } })).status,
    ).toBe(200);
    const publicUrl = 'https://agents.example/base/';
    const tags = [];
    for (const agents of [[doorAgent()], [doorAgent()], [doorAgent('renamed')]]) {
      const another = await startWorld({ agents, publicUrl });
      tags.push((await call(another, CARD)).headers.etag);
      await another.close();
    }
    expect(tags[0]).toBe(tags[1]);
    expect(tags[0]).not.toBe(tags[2]);
  });

  test('shows the public address, whatever a client says of the host', async () => {
    const behind = await startWorld({ agents: [doorAgent()], publicUrl: 'https://agents.example/base/' });
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' };
    const { json } = await call(behind, CARD, { headers });
    expect(json.supportedInterfaces.map((entry: Wire) => entry.url)).toEqual([
      'https://agents.example/base/a2a/jsonrpc',
      'https://agents.example/base/a2a/v1',
    ]);
    await behind.close();
    const plain = await call(world, CARD, { headers });
    expect(plain.text).not.toContain('evil');
  });
});

describe('doors for operators', () => {
  test('health, readiness, metrics', async () => {
    expect((await call(world, '/healthz')).json).toEqual({ status: 'ok' });
    expect((await call(world, '/readyz/')).json).toEqual({ status: 'ready' });
    await call(world, '/a2a/v1/tasks/nope');
    const { text, headers } = await call(world, '/metrics');
    expect(headers['content-type']).toMatch(/^text\/plain/);
    expect(text).toContain('holdfast_operations_total{operation="getTask",agent="door",code="task_not_found"}');
    expect(text).toContain('holdfast_tasks{state="working"} 0');
    expect(text).toContain('holdfast_store_up 1');
  });

  test('a server that stops is not ready, and one whose store is gone is not either', async () => {
    const stopping = await startWorld({ agents: [doorAgent()] });
    await stopping.close();
    const answer = await call(stopping, '/readyz');
    expect([answer.status, answer.json.reason]).toEqual([503, 'the server is stopping']);
  });

  test('what this server does stands in /openapi.json', async () => {
    const { json } = await call(world, '/openapi.json');
    expect(json.openapi).toBe('3.1.0');
    expect(Object.keys(json.paths)).toEqual(
      expect.arrayContaining(['/a2a/v1/message:send', '/a2a/v1/tasks/{id}:cancel', '/v1/tasks/{taskId}/events']),
    );
    const operations = Object.values(json.paths as Wire).flatMap((path) => Object.values(path as Wire) as Wire[]);
    const ids = operations.map((operation) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, name] of JSON.stringify(json).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      expect(Object.keys(json.components.schemas)).toContain(name);
    }
    expect(json.components.schemas['door.typed.input']).toMatchObject({ properties: { count: { type: 'number' } } });
    expect(json.paths['/v1/tasks'].post.requestBody.content['application/json'].schema.properties.text.type).toBe(
      'string',
    );
  });

  test('HEAD says what GET would, OPTIONS what a path takes, anything else is 404 or 405', async () => {
    expect((await call(world, CARD, { method: 'HEAD' })).headers.etag).toBe((await call(world, CARD)).headers.etag);
    expect((await call(world, CARD, { method: 'OPTIONS' })).headers.allow).toBe('GET, HEAD, OPTIONS');
    expect((await call(world, '/healthz', { method: 'POST' })).headers.allow).toBe('GET, HEAD, OPTIONS');
    for (const path of ['/', '/nothing', '/a2a', '/agents', '/agents/door', '/agents/door/healthz', '/a2a/jsonrpc/x']) {
      const answer = await call(world, path);
      expect([path, answer.status, answer.headers['content-type']]).toEqual([path, 404, 'application/json']);
      expect((await call(world, path, { method: 'OPTIONS' })).status).toBe(404);
    }
  });
});

describe('pages of other origins', () => {
  const preflight = (origin: string, doors = world) =>
    call(doors, '/a2a/v1/tasks', { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'GET' } });

  test('may call where they are listed', async () => {
    const { status, headers } = await preflight('https://app.example');
    expect(status).toBe(204);
    expect(headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-methods': 'GET, HEAD, OPTIONS',
      'access-control-allow-headers':
        'A2A-Version, A2A-Extensions, Authorization, Content-Type, Last-Event-ID, Traceparent',
      vary: 'Origin',
    });
    const answer = await call(world, '/healthz', { headers: { origin: 'https://app.example' } });
    expect(answer.headers['access-control-allow-origin']).toBe('https://app.example');
    expect(answer.headers['access-control-expose-headers']).toContain('WWW-Authenticate');
  });

  test('may not where they are not', async () => {
    for (const origin of ['https://app.example.evil.example', 'http://app.example', 'null']) {
      expect((await preflight(origin)).headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  test('of this machine may under localhost, and none by default', async () => {
    const local = await startWorld({ agents: [doorAgent()], config: { cors: 'localhost' } });
    for (const [origin, allowed] of [
      ['http://localhost:5173', 'http://localhost:5173'],
      ['http://127.0.0.1', 'http://127.0.0.1'],
      ['http://localhost.evil.example', undefined],
    ] as const) {
      expect((await preflight(origin, local)).headers['access-control-allow-origin']).toBe(allowed);
    }
    await local.close();
    const closed = await startWorld({ agents: [doorAgent()] });
    expect((await preflight('http://localhost', closed)).headers).toEqual({ allow: 'GET, HEAD, OPTIONS' });
    await closed.close();
  });
});
