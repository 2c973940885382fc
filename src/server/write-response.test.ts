import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { limits } from '../base/limits.ts';
import { writeResponse } from './write-response.ts';

/** Serves one request with `respond`, gives what the peer does about it. */
async function serveOnce(respond: (raw: ServerResponse) => Promise<void>) {
  const server = createServer();
  const answered = new Promise<void>((resolve, reject) => {
    server.on('request', (_request, response) => respond(response).then(resolve, reject));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  const close = () => {
    socket.destroy();
    server.closeAllConnections();
    server.close();
  };
  return { socket, answered, close };
}

test('a reader that does not read is asked for no more than its backlog, and gets all of it when it reads', async () => {
  const piece = 'x'.repeat(64 * 1024);
  const pieces = 1_000;
  let pulled = 0;
  async function* frames(): AsyncGenerator<string> {
    for (let index = 0; index < pieces; index += 1) {
      pulled += 1;
      yield piece;
    }
  }
  let raw: ServerResponse | undefined;
  const { socket, answered, close } = await serveOnce((response) => {
    raw = response;
    return writeResponse(response, { status: 200, headers: {}, body: frames() }, { headOnly: false });
  });
  socket.pause();
  for (let before = -1; before !== pulled || pulled === 0; ) {
    before = pulled;
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(pulled).toBeLessThan(pieces / 2);
  expect(raw?.writableLength).toBeLessThan(limits.frameBacklogBytesMax + 2 * piece.length);
  let bytes = 0;
  socket.on('data', (chunk) => (bytes += chunk.length));
  socket.resume();
  await answered;
  while (bytes < pieces * piece.length) await new Promise((resolve) => setImmediate(resolve));
  close();
});

test('a reader that leaves ends its source', async () => {
  let returned = false;
  async function* frames(): AsyncGenerator<string> {
    try {
      for (;;) yield 'x'.repeat(64 * 1024);
    } finally {
      returned = true;
    }
  }
  const { socket, answered, close } = await serveOnce((response) =>
    writeResponse(response, { status: 200, headers: {}, body: frames() }, { headOnly: false }),
  );
  socket.pause();
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  socket.destroy();
  await answered;
  expect(returned).toBe(true);
  close();
});
