import type { ServerResponse } from 'node:http';
import { limits } from '../base/limits.ts';
import { type HttpResponse, isStream } from '../bindings/http/exchange.ts';

/** Writes a response to a socket; resolves when it is written whole or the client has gone. */
export async function writeResponse(
  raw: ServerResponse,
  response: HttpResponse,
  options: { readonly headOnly: boolean },
): Promise<void> {
  const { status, headers, body } = response;
  if (isStream(body)) {
    raw.writeHead(status, headers);
    if (options.headOnly) raw.end();
    else await writeFrames(raw, body);
    return;
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const hasNoBody = status === 204 || status === 304;
  raw.writeHead(status, hasNoBody ? headers : { ...headers, 'content-length': bytes.length });
  if (options.headOnly || hasNoBody) raw.end();
  else raw.end(bytes);
}

/**
 * Hands pieces to the socket as long as its reader keeps up. Once the backlog is full nothing more is asked for, so a
 * reader that does not read costs its backlog and no more; what it misses waits in the store.
 */
async function writeFrames(raw: ServerResponse, pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  for await (const piece of pieces) {
    if (raw.destroyed) return;
    raw.write(piece);
    if (raw.writableLength > limits.frameBacklogBytesMax) await drained(raw);
    if (raw.destroyed) return;
  }
  raw.end();
}

function drained(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      raw.off('drain', done);
      raw.off('close', done);
      resolve();
    };
    raw.on('drain', done);
    raw.on('close', done);
  });
}
