import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { noAuthentication } from '../auth/no-authentication.ts';
import type { SystemStore } from '../store/contract.ts';
import { clientMessage, doorAgent } from '../testing/door-agent.ts';
import { call } from '../testing/door-calls.ts';
import { startWorld, wholeRequest } from '../testing/server-world.ts';
import { createHoldfast, type Holdfast, type HoldfastOptions } from './holdfast.ts';

let folder: string;
const running: Holdfast[] = [];
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'holdfast-server-'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((holdfast) => holdfast.close(0)));
  rmSync(folder, { recursive: true, force: true });
});

async function create(options: Partial<HoldfastOptions> = {}): Promise<Holdfast> {
  const holdfast = await createHoldfast({ agents: [doorAgent()], port: 0, env: {}, ...options });
  running.push(holdfast);
  return holdfast;
}

const send = (holdfast: Holdfast, messageId: string) =>
  call({ handle: (given) => holdfast.handle(wholeRequest(given)) }, '/a2a/v1/message:send', {
    body: { message: clientMessage({ messageId }) },
  });

describe('what keeps a server from starting is one line', () => {
  test.each([
    [{ agents: [] }, 'There is no agent to serve.'],
    [{ agents: [doorAgent(), doorAgent()] }, 'Two agents are called "door"'],
    [{ config: { defaultAgent: 'x' } }, 'defaultAgent: there is no agent "x". There are door.'],
    [{ store: 'mysql://x' }, 'This is no store.'],
    [{ store: 'sqlite:' }, 'This is no store.'],
    [{ publicUrl: 'agents.example' }, 'publicUrl: "agents.example" is no address'],
    [{ secretsKey: 'short' }, 'HOLDFAST_SECRETS_KEY is too short'],
    [{ env: { HOLDFAST_SECRETS_KEY: 'short' } }, 'HOLDFAST_SECRETS_KEY is too short'],
    [{ config: { runs: { leaseSecs: -1 } } }, 'runs.leaseSecs'],
  ] as const)('%#', async (options, message) => {
    await expect(create(options as Partial<HoldfastOptions>)).rejects.toThrow(message);
    await expect(create(options as Partial<HoldfastOptions>)).rejects.toThrow(/^[^\n]+$/);
  });

  test('a store with many nodes needs the same key on each', async () => {
    const postgres = { name: 'postgres' } as unknown as SystemStore;
    await expect(create({ store: postgres })).rejects.toThrow('HOLDFAST_SECRETS_KEY is not set');
  });

  test('a key that is missing or too short is told before anything is opened', async () => {
    // Nothing listens there: a connection would be refused, and that would be the line.
    const nowhere = 'postgres://ann:secret@127.0.0.1:1/db';
    await expect(create({ store: nowhere })).rejects.toThrow(/^HOLDFAST_SECRETS_KEY is not set\. With PostgreSQL/);
    await expect(create({ store: nowhere, secretsKey: 'short' })).rejects.toThrow('HOLDFAST_SECRETS_KEY is too short');
    const file = path.join(folder, 'data.db');
    await expect(create({ store: `sqlite:${file}`, secretsKey: 'short' })).rejects.toThrow('too short');
    expect(existsSync(file)).toBe(false);
  });

  test('a port that is taken is told', async () => {
    const first = await create();
    const { url } = await first.listen();
    const second = await create({ port: Number(new URL(url).port) });
    await expect(second.listen()).rejects.toThrow(/^Port \d+ on 127\.0\.0\.1 is taken by another program\./);
  });

  test('nobody is asked who they are only where nobody else can come', async () => {
    await expect((await create({ host: '0.0.0.0' })).listen()).rejects.toThrow('--allow-anonymous');
    const open = await create({ host: '0.0.0.0', config: { allowAnonymous: true } });
    expect((await open.listen()).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });
});

describe('the root key', () => {
  test('of a SQLite store stands beside it, for its owner alone, and is kept', async () => {
    const store = `sqlite:${path.join(folder, 'data.db')}`;
    const first = await create({ store });
    const { json } = await send(first, 'once');
    await first.close(0);
    const keyFile = path.join(folder, 'data.db-key');
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    const key = readFileSync(keyFile, 'utf8');
    expect(Buffer.from(key, 'base64')).toHaveLength(32);
    const second = await create({ store });
    expect(readFileSync(keyFile, 'utf8')).toBe(key);
    expect((await send(second, 'once')).json.task.id).toBe(json.task.id);
  });

  test('that was given leaves no file', async () => {
    await create({ store: `sqlite:${path.join(folder, 'data.db')}`, secretsKey: 'x'.repeat(32) });
    expect(existsSync(path.join(folder, 'data.db-key'))).toBe(false);
  });

  test('that cannot be read leaves the store closed', async () => {
    const store = `sqlite:${path.join(folder, 'data.db')}`;
    writeFileSync(path.join(folder, 'data.db-key'), 'short');
    await expect(create({ store })).rejects.toThrow('data.db-key is too short');
    rmSync(path.join(folder, 'data.db-key'));
    await create({ store });
  });
});

describe('a server of one’s own', () => {
  test('hands its requests to the doors', async () => {
    const holdfast = await create({ publicUrl: 'https://agents.example' });
    const server = createServer(holdfast.nodeHandler);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const card = await (await fetch(`http://127.0.0.1:${port}/.well-known/agent-card.json`)).json();
    expect(JSON.stringify(card)).toContain('https://agents.example/a2a/jsonrpc');
    server.closeAllConnections();
    server.close();
  });
});

describe('over a port', () => {
  const world = (options: Partial<Parameters<typeof startWorld>[0]> = {}) =>
    startWorld({ agents: [doorAgent()], ...options });

  test('a body over the limit is 413 in the envelope of its door, and the server stays up', async () => {
    const server = await world();
    const body = `{"x":"${'x'.repeat(16 * 1024 * 1024)}"}`;
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
    for (const [at, expected] of [
      ['/a2a/v1/message:send', { error: { code: 413, details: [{ reason: 'REQUEST_TOO_LARGE' }] } }],
      ['/a2a/jsonrpc', { jsonrpc: '2.0', id: null, error: { code: -32600 } }],
      ['/v1/tasks', { error: { code: 413 } }],
    ] as const) {
      const response = await fetch(server.url + at, { method: 'POST', headers, body });
      expect(response.status).toBe(413);
      expect(await response.json()).toMatchObject(expected);
    }
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    await server.close();
  });

  test.each([';;;', '', 'application/json, text/plain'])('the content type %j is 415 on every door', async (type) => {
    const server = await world();
    for (const at of ['/a2a/v1/message:send', '/a2a/jsonrpc', '/v1/tasks']) {
      const response = await fetch(server.url + at, {
        method: 'POST',
        headers: { 'content-type': type, 'a2a-version': '1.0' },
        body: '{}',
      });
      expect(response.status).toBe(415);
      expect(await response.text()).toContain('application/a2a+json');
    }
    await server.close();
  });

  test('HEAD has the headers and no body, a stream’s too', async () => {
    const server = await world();
    const response = await fetch(`${server.url}/.well-known/agent-card.json`, { method: 'HEAD' });
    expect(response.headers.get('content-length')).toMatch(/^\d{3,}$/);
    expect(await response.text()).toBe('');
    await server.close();
  });

  test('a request line with a whole URL, and an odd one, are read', async () => {
    const server = await world();
    const { port } = new URL(server.url);
    const statusOf = (target: string, method = 'GET') =>
      new Promise((resolve, reject) => {
        request({ port, host: '127.0.0.1', method, path: target }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on('error', reject)
          .end();
      });
    expect(await statusOf(`${server.url}/healthz`)).toBe(200);
    expect(await statusOf('/a2a/v1/tasks/%ff')).toBe(400);
    expect(await statusOf('/%')).toBe(404);
    expect(await statusOf('//healthz')).toBe(404);
    expect(await statusOf('/healthz', 'PROPFIND')).toBe(405);
    expect(await statusOf('/v1/tasks', 'PATCH')).toBe(405);
    await server.close();
  });

  test('what is no request is refused in the shape of the native API', async () => {
    const server = await world();
    const { port } = new URL(server.url);
    const answerTo = (text: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
        let answer = '';
        socket
          .on('data', (chunk) => (answer += chunk))
          .on('end', () => resolve(answer))
          .on('error', reject);
      });
    const long = `GET /v1/tasks HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(64 * 1024)}\r\n\r\n`;
    for (const [text, status, words] of [
      ['nonsense\r\n\r\n', 400, 'is no HTTP request'],
      ['GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n', 400, 'no HTTP request'],
      [long, 431, 'headers of the request are too large'],
    ] as const) {
      const [head = '', body = ''] = (await answerTo(text)).split('\r\n\r\n');
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(head).toContain('content-type: application/json');
      expect(JSON.parse(body)).toMatchObject({
        error: {
          code: status,
          status: 'INVALID_ARGUMENT',
          message: expect.stringContaining(words),
          details: [{ reason: 'INVALID_REQUEST', domain: 'holdfast.dev' }],
        },
      });
    }
    await server.close();
  });

  test('what is no request, sent while one is answered, breaks the connection and stands in no answer', async () => {
    const server = await world();
    const begun = await call(server, '/a2a/v1/message:send', {
      body: { message: clientMessage({ skill: 'hold' }), configuration: { returnImmediately: true } },
    });
    const { port } = new URL(server.url);
    const answer = await new Promise<string>((resolve) => {
      const path = `/v1/tasks/${begun.json.task.id}/events`;
      const socket = connect(Number(port), '127.0.0.1', () =>
        socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n\r\n`),
      );
      let text = '';
      socket
        .on('data', (chunk) => {
          text += chunk;
          if (text.includes('data: ')) socket.write('nonsense\r\n\r\n');
        })
        .on('error', () => 'a broken connection is what is expected')
        .on('close', () => resolve(text));
    });
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    expect(answer).not.toContain('HTTP/1.1 400');
    await server.close();
  });

  test('a client that leaves ends its stream, and nothing else', async () => {
    const server = await world();
    const begun = await call(server, '/a2a/v1/message:send', {
      body: { message: clientMessage({ skill: 'hold' }), configuration: { returnImmediately: true } },
    });
    const abort = new AbortController();
    const response = await fetch(`${server.url}/v1/tasks/${begun.json.task.id}/events`, {
      headers: { accept: 'text/event-stream' },
      signal: abort.signal,
    });
    await response.body?.getReader().read();
    expect((await call(server, '/metrics')).text).toContain('holdfast_streams_open 1');
    abort.abort();
    while (!(await call(server, '/metrics')).text.includes('holdfast_streams_open 0')) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await call(server, `/v1/tasks/${begun.json.task.id}`)).json.status.state).toBe('TASK_STATE_WORKING');
    await server.close();
  });

  test('closing twice is harmless, and a blocking send is answered', async () => {
    const server = await world();
    const waiting = fetch(`${server.url}/a2a/v1/message:send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ message: clientMessage({ skill: 'hold' }) }),
    });
    while (((await call(server, '/v1/tasks')).json.totalSize as number) === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all([server.close(), server.close()]);
    const { task } = (await (await waiting).json()) as { task: { status: { state: string } } };
    expect(task.status.state).toBe('TASK_STATE_WORKING');
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
  });
});

test('without authentication only this machine may call', async () => {
  const authenticator = noAuthentication();
  const from = (remoteAddress?: string) =>
    authenticator.authenticate({ header: () => undefined, ...(remoteAddress === undefined ? {} : { remoteAddress }) });
  for (const address of [undefined, '127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
    expect((await from(address)).scope).toBe('anonymous');
  }
  for (const address of ['10.0.0.1', '::ffff:10.0.0.1', '1127.0.0.1', '127.0.0.1.evil.example', '2001:db8::1']) {
    await expect(from(address)).rejects.toMatchObject({ code: 'unauthenticated' });
  }
  const naming = (headers: Record<string, string>) =>
    noAuthentication({
      publicUrl: 'https://agents.example/base',
      allowsOrigin: (origin) => origin === 'https://app.example',
    }).authenticate({ remoteAddress: '127.0.0.1', header: (name) => headers[name] });
  for (const host of ['localhost:4000', '127.0.0.1', '[::1]:4000', 'agents.example']) {
    expect((await naming({ host })).scope, host).toBe('anonymous');
  }
  for (const host of ['evil.example', 'localhost.evil.example:4000', '127.0.0.1.evil.example']) {
    await expect(naming({ host }), host).rejects.toMatchObject({ code: 'unauthenticated' });
  }
  for (const origin of ['http://localhost:3000', 'https://app.example']) {
    expect((await naming({ origin })).scope, origin).toBe('anonymous');
  }
  for (const origin of ['https://evil.example', 'null']) {
    await expect(naming({ origin }), origin).rejects.toMatchObject({ code: 'unauthenticated' });
  }
  const open = noAuthentication({ allowAnonymous: true });
  expect((await open.authenticate({ header: () => undefined, remoteAddress: '10.0.0.1' })).scope).toBe('anonymous');
});
