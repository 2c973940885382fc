import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../base/clock.ts';
import type { Json } from '../base/json.ts';
import { decodeAgentCard } from '../protocol/v1/client-card.ts';
import { loadCard } from './card.ts';
import { cardFaults } from './card-faults.ts';
import { bindingNamed, chooseInterface, openTransport, placeCredentials } from './connect.ts';
import type { HttpSettings } from './http.ts';

interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}
interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Settings whose fetch answers by `answer`, and what it was asked. */
function settingsOf(answer: (url: string) => Answer | Error): {
  readonly settings: HttpSettings;
  readonly asked: Asked[];
} {
  const asked: Asked[] = [];
  const fetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const url = String(input);
    const headers = Object.fromEntries(new Headers(init.headers).entries());
    const body = typeof init.body === 'string' ? JSON.parse(init.body) : undefined;
    asked.push({ method: init.method ?? 'GET', url, headers, body });
    const found = answer(url);
    if (found instanceof Error) throw found;
    const { status = 200, type = 'application/json', body: text = '{}', headers: more } = found;
    return new Response(text, { status, headers: { 'content-type': type, ...more } });
  };
  const settings: HttpSettings = { fetch, clock: systemClock, headers: { 'a2a-version': '1.0' }, query: {} };
  return { settings, asked };
}
async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const signal = new AbortController().signal;
const jsonRpc = { url: 'http://h/a2a/jsonrpc', binding: 'JSONRPC', protocolVersion: '1.0' };
const rest = { url: 'http://h/a2a/v1/', binding: 'HTTP+JSON', protocolVersion: '1.0' };

describe('what goes over the wire', () => {
  test('JSON-RPC: one POST with the operation as its method, the tenant in its parameters', async () => {
    const { settings, asked } = settingsOf(() => ({ body: '{"jsonrpc":"2.0","id":1,"result":{"id":"t1"}}' }));
    const answer = await openTransport(settings, { ...jsonRpc, tenant: 'notebook' }).call(
      'GetTask',
      { id: 't1' },
      signal,
    );
    expect(answer).toEqual({ id: 't1' });
    expect(asked[0]).toMatchObject({
      method: 'POST',
      url: 'http://h/a2a/jsonrpc',
      headers: { 'a2a-version': '1.0', 'content-type': 'application/json' },
      body: { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { tenant: 'notebook', id: 't1' } },
    });
  });

  test.each<[Parameters<ReturnType<typeof openTransport>['call']>[0], Json, string, string, unknown]>([
    ['GetTask', { id: 't/1', historyLength: 2 }, 'GET', '/tasks/t%2F1?historyLength=2', undefined],
    ['ListTasks', { pageSize: 2, includeArtifacts: true }, 'GET', '/tasks?pageSize=2&includeArtifacts=true', undefined],
    ['CancelTask', { id: 't1' }, 'POST', '/tasks/t1:cancel', {}],
    ['SendMessage', { message: { messageId: 'm' } }, 'POST', '/message:send', { message: { messageId: 'm' } }],
    [
      'DeleteTaskPushNotificationConfig',
      { taskId: 't', id: 'c' },
      'DELETE',
      '/tasks/t/pushNotificationConfigs/c',
      undefined,
    ],
  ])('HTTP+JSON: %s', async (operation, params, method, target, body) => {
    const { settings, asked } = settingsOf(() => ({}));
    await openTransport(settings, rest).call(operation, params as { readonly [key: string]: Json }, signal);
    expect(asked[0]).toMatchObject({ method, url: `http://h/a2a/v1${target}` });
    expect(asked[0]?.body).toEqual(body);
    await openTransport(settings, { ...rest, tenant: 'bench' }).call(
      operation,
      params as { readonly [key: string]: Json },
      signal,
    );
    expect(asked[1]?.url).toBe(`http://h/a2a/v1/bench${target}`);
  });

  test.each([
    ['JSONRPC', jsonRpc, '{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t1"}}}'],
    ['HTTP+JSON', rest, '{"task":{"id":"t1"}}'],
  ])('a stream over %s, with the place to resume', async (_name, face, data) => {
    const { settings, asked } = settingsOf(() => ({ type: 'text/event-stream', body: `id: x-1\ndata: ${data}\n\n` }));
    const frames = await openTransport(settings, face).stream(
      'SubscribeToTask',
      { id: 't1' },
      { signal, lastEventId: 'x-0' },
    );
    expect(await collect(frames)).toEqual([{ json: { task: { id: 't1' } }, id: 'x-1' }]);
    expect(asked[0]?.headers['last-event-id']).toBe('x-0');
  });
});

const info = (reason: string, domain = 'a2a-protocol.org', metadata = {}): Json => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain,
  metadata,
});

describe('an error has the same name over every binding', () => {
  const violations = {
    '@type': 'type.googleapis.com/google.rpc.BadRequest',
    fieldViolations: [{ field: 'a', description: 'b' }],
  };
  test.each<[string, string, number, string, number, readonly Json[]]>([
    ['protocol', 'TaskNotFoundError', -32001, 'NOT_FOUND', 404, [info('TASK_NOT_FOUND')]],
    ['protocol', 'UnsupportedOperationError', -32004, 'FAILED_PRECONDITION', 400, [info('UNSUPPORTED_OPERATION')]],
    [
      'protocol',
      'InvalidParamsError',
      -32602,
      'INVALID_ARGUMENT',
      400,
      [info('INVALID_PARAMS', 'holdfast.dev'), violations],
    ],
    ['protocol', 'InvalidParamsError', -32602, 'INVALID_ARGUMENT', 400, [info('MESSAGE_ID_CONFLICT', 'holdfast.dev')]],
    ['protocol', 'JSONParseError', -32700, 'INVALID_ARGUMENT', 400, [info('PARSE_ERROR', 'holdfast.dev')]],
    ['protocol', 'InternalError', -32603, 'INTERNAL', 500, [info('INTERNAL', 'holdfast.dev')]],
    ['protocol', 'TaskNotCancelableError', -32002, 'FAILED_PRECONDITION', 400, [info('TASK_NOT_CANCELABLE')]],
  ])('%s %s', async (kind, a2aName, code, status, http, details) => {
    const asJsonRpc = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message: 'No.', data: details } });
    const asRest = JSON.stringify({ error: { code: http, status, message: 'No.', details } });
    const rpc = openTransport(settingsOf(() => ({ body: asJsonRpc })).settings, jsonRpc);
    const plain = openTransport(settingsOf(() => ({ status: http, body: asRest })).settings, rest);
    for (const [transport, wireCode] of [
      [rpc, code],
      [plain, http],
    ] as const) {
      const facts = { a2aName, wireCode, violations: details.includes(violations) ? violations.fieldViolations : [] };
      await expect(transport.call('GetTask', { id: 'x' }, signal)).rejects.toMatchObject({
        kind,
        message: 'No.',
        facts,
      });
      await expect(transport.stream('SubscribeToTask', { id: 'x' }, { signal })).rejects.toMatchObject({ kind, facts });
    }
  });

  test('busy and unauthenticated are told apart, with the time to wait', async () => {
    const busy = {
      error: {
        code: 503,
        status: 'UNAVAILABLE',
        message: 'No.',
        details: [info('OVERLOADED', 'holdfast.dev', { retry: 'later' })],
      },
    };
    const answer = { status: 503, body: JSON.stringify(busy), headers: { 'retry-after': '7' } };
    await expect(
      openTransport(settingsOf(() => answer).settings, rest).call('GetTask', { id: 'x' }, signal),
    ).rejects.toMatchObject({
      kind: 'busy',
      facts: { retryAfterSeconds: 7, mayRepeat: true },
    });
    const denied = openTransport(settingsOf(() => ({ status: 401, body: '{}' })).settings, jsonRpc);
    await expect(denied.call('GetTask', { id: 'x' }, signal)).rejects.toMatchObject({ kind: 'unauthenticated' });
  });

  test('an error inside a stream ends it by that error', async () => {
    const last = JSON.stringify({
      error: { code: 503, status: 'UNAVAILABLE', message: 'Going.', details: [info('UNAVAILABLE', 'holdfast.dev')] },
    });
    const { settings } = settingsOf(() => ({
      type: 'text/event-stream',
      body: `data: {"task":{"id":"t"}}\n\ndata: ${last}\n\n`,
    }));
    const frames = await openTransport(settings, rest).stream('SubscribeToTask', { id: 't' }, { signal });
    await expect(collect(frames)).rejects.toMatchObject({ kind: 'busy', message: 'Going.' });
  });

  test('what is no A2A answer, and what is no answer at all', async () => {
    const html = openTransport(settingsOf(() => ({ type: 'text/html', body: '<p>' })).settings, jsonRpc);
    await expect(html.call('GetTask', { id: 'x' }, signal)).rejects.toMatchObject({ kind: 'bad-answer' });
    const refused = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') });
    const nobody = openTransport(settingsOf(() => refused).settings, jsonRpc);
    await expect(nobody.call('GetTask', { id: 'x' }, signal)).rejects.toMatchObject({
      kind: 'unreachable',
      message: 'http://h could not be reached: connect ECONNREFUSED 127.0.0.1:1',
    });
  });
});

const card = {
  name: 'demo',
  description: 'd',
  version: '1',
  capabilities: { streaming: true },
  supportedInterfaces: [
    { url: 'http://h/grpc', protocolBinding: 'GRPC', protocolVersion: '1.0' },
    { url: 'http://h/a2a/v1', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    { url: 'http://h/a2a/jsonrpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
  ],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'a', name: 'A', description: 'a', tags: [] }],
};

describe('an agent card', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'holdfast-card-'));
    await writeFile(path.join(folder, 'card.json'), JSON.stringify(card));
    await writeFile(path.join(folder, 'broken.json'), '{');
  });
  afterAll(() => rm(folder, { recursive: true }));

  const load = (
    reference: string,
    answer: (url: string) => Answer | Error = () => ({ body: JSON.stringify(card) }),
  ) => {
    const { settings, asked } = settingsOf(answer);
    return { loaded: loadCard(settings, reference, { signal, cwd: folder }), asked };
  };

  test.each([
    ['localhost:4000', 'http://localhost:4000/.well-known/agent-card.json'],
    ['127.0.0.1:4000', 'http://127.0.0.1:4000/.well-known/agent-card.json'],
    ['agents.example', 'https://agents.example/.well-known/agent-card.json'],
    ['http://h:1/', 'http://h:1/.well-known/agent-card.json'],
    ['https://h/cards/x.json?v=1', 'https://h/cards/x.json?v=1'],
    ['https://h/cards/x', 'https://h/cards/x'],
  ])('%s is found at %s', async (reference, url) => {
    const { loaded, asked } = load(reference);
    expect((await loaded).card.name).toBe('demo');
    expect(asked.map((each) => each.url)).toEqual([url]);
  });

  test("an agent's own root is tried with the well-known path", async () => {
    const { loaded, asked } = load('http://h/agents/demo', (url) =>
      url.endsWith('agent-card.json') ? { body: JSON.stringify(card) } : { status: 404, body: '{}' },
    );
    await loaded;
    expect(asked.at(-1)?.url).toBe('http://h/agents/demo/.well-known/agent-card.json');
  });

  test.each(['card.json', './card.json'])('a file: %s', async (reference) => {
    expect((await load(reference).loaded).card.name).toBe('demo');
  });

  test.each<[string, string, Answer | Error]>([
    ['card-not-found', 'http://h', { status: 404 }],
    ['card-not-found', './nowhere.json', {}],
    ['card-invalid', './broken.json', {}],
    ['card-invalid', 'http://h', { body: '{"name":"old","url":"x"}' }],
    ['card-invalid', 'http://h', { type: 'text/html', body: '<p>' }],
    ['unreachable', 'http://h', new TypeError('fetch failed')],
    ['unauthenticated', 'http://h', { status: 401 }],
  ])('%s: %s', async (kind, reference, answer) => {
    await expect(load(reference, () => answer).loaded).rejects.toMatchObject({ kind });
  });

  test('its faults are named', () => {
    expect(cardFaults(card)).toEqual([]);
    expect(
      cardFaults({ ...card, version: 1, skills: [{ id: 'a', name: 'A', description: 'a' }], supportedInterfaces: [] }),
    ).toEqual(['version must be text', 'supportedInterfaces must not be empty', 'skills[0].tags is missing']);
    expect(cardFaults({ ...card, supportedInterfaces: [{ ...card.supportedInterfaces[1], url: '/a2a' }] })).toEqual([
      'supportedInterfaces[0].url must be an absolute URL',
    ]);
  });
});

describe('a binding is chosen', () => {
  const remote = decodeAgentCard(card);
  test('in the order of the card, or of the preferences that the card has too', () => {
    expect(chooseInterface(remote, []).binding).toBe('HTTP+JSON');
    expect(chooseInterface(remote, ['JSONRPC']).binding).toBe('JSONRPC');
    expect(chooseInterface(remote, ['GRPC', 'JSONRPC']).binding).toBe('JSONRPC');
    expect(chooseInterface(remote, ['GRPC']).binding).toBe('HTTP+JSON');
  });

  test('never one of another version: the error names what is offered', () => {
    const old = { ...remote, interfaces: [{ url: 'x', binding: 'JSONRPC', protocolVersion: '0.3' }] };
    expect(() => chooseInterface(old, [])).toThrow('The agent offers JSONRPC 0.3; this client speaks');
  });

  test.each([
    ['rest', 'HTTP+JSON'],
    ['JsonRpc', 'JSONRPC'],
    ['grpc', 'GRPC'],
    ['carrier-pigeon', undefined],
  ])('%s', (text, name) => {
    expect(bindingNamed(text)).toBe(name);
  });
});

test('credentials go where the card wants them', () => {
  const scheme = (location: string) => ({ key: { apiKeySecurityScheme: { location, name: 'X-Key' } } });
  expect(placeCredentials({}, { bearer: 'b' })).toEqual({ headers: { authorization: 'Bearer b' }, query: {} });
  expect(placeCredentials({}, { apiKey: 'k' }).headers).toEqual({ 'x-api-key': 'k' });
  expect(placeCredentials(scheme('header'), { apiKey: 'k' }).headers).toEqual({ 'x-key': 'k' });
  expect(placeCredentials(scheme('query'), { apiKey: 'k' })).toEqual({ headers: {}, query: { 'X-Key': 'k' } });
  expect(placeCredentials(scheme('cookie'), { apiKey: 'k' }).headers).toEqual({ cookie: 'X-Key=k' });
});
