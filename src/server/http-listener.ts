import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { CodedError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import type { NewId } from '../base/unique-id.ts';
import type { HttpBinding, HttpRequest } from '../bindings/http/exchange.ts';
import { Faults } from '../bindings/http/fault.ts';
import { answerUnreadable } from './unreadable-request.ts';
import { writeResponse } from './write-response.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'PUT', 'PATCH'];

const PROBE_DELAY_MS = 30_000;
const REQUEST_MS = 300_000;

/** Requests in hand, so that a stop can end those that would not end by themselves. */
export class OpenRequests {
  readonly #open = new Set<AbortController>();
  readonly #sockets = new Map<Socket, number>();

  get size(): number {
    return this.#open.size;
  }

  /** A signal that fires when the client goes before it was answered whole, or when `abortAll` is called. */
  track(raw: ServerResponse, socket: Socket): AbortSignal {
    const controller = new AbortController();
    this.#open.add(controller);
    this.#count(socket, 1);
    raw.once('close', () => {
      this.#open.delete(controller);
      this.#count(socket, -1);
      if (!raw.writableFinished) controller.abort(new Error('the client has gone'));
    });
    return controller.signal;
  }

  /** Whether a request that came over this socket is being answered: nothing else may be written to it. */
  isAnswered(socket: Socket): boolean {
    return this.#sockets.has(socket);
  }

  abortAll(reason: Error): void {
    for (const controller of this.#open) controller.abort(reason);
  }

  #count(socket: Socket, change: 1 | -1): void {
    const count = (this.#sockets.get(socket) ?? 0) + change;
    if (count > 0) this.#sockets.set(socket, count);
    else this.#sockets.delete(socket);
  }
}

/**
 * The listener: fastify reads requests, within limits, and hands them to the doors as values. It routes nothing, since a
 * router that decodes paths would blur an id that holds a slash; the doors read the path as it was sent.
 */
export function createListener(parts: {
  readonly doors: HttpBinding;
  readonly open: OpenRequests;
  readonly log: Logger;
  readonly newId: NewId;
}): FastifyInstance {
  const faults = new Faults(parts);
  const app = fastify({
    logger: false,
    bodyLimit: limits.requestBytesMax,
    rewriteUrl: () => '/',
    exposeHeadRoutes: false,
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => {
      if (parts.open.isAnswered(socket)) socket.destroy();
      else answerUnreadable(error, socket, faults);
    },
    forceCloseConnections: 'idle',
    // Who sends a request so slowly is not sending one. An answer may take as long as it likes.
    requestTimeout: REQUEST_MS,
    // A peer that vanished without a word is noticed by the network, also on a stream that has nothing to say.
    http: { keepAlive: true, keepAliveInitialDelay: PROBE_DELAY_MS },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  const serve = (request: FastifyRequest, reply: FastifyReply): void => {
    answer(parts, { request, reply }).catch((error: unknown) => {
      parts.log.error('response failed', { error });
      reply.raw.destroy();
    });
  };
  app.route({ method: METHODS, url: '/', handler: serve });
  app.setNotFoundHandler(serve);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    answer(parts, { request, reply, fault: faultOf(error) }).catch(() => reply.raw.destroy());
  });
  return app;
}

async function answer(
  parts: { readonly doors: HttpBinding; readonly open: OpenRequests },
  exchange: { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly fault?: CodedError },
): Promise<void> {
  const { request, reply, fault } = exchange;
  reply.hijack();
  const { raw } = reply;
  const signal = parts.open.track(raw, request.raw.socket);
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const response = await parts.doors(toHttpRequest(request.raw, request.originalUrl, { body, signal, fault }));
  await writeResponse(raw, response, { headOnly: request.method === 'HEAD' });
}

function toHttpRequest(
  message: IncomingMessage,
  url: string,
  rest: { readonly body: Uint8Array; readonly signal: AbortSignal; readonly fault: CodedError | undefined },
): HttpRequest {
  const { path, query } = splitUrl(url);
  const { remoteAddress } = message.socket;
  return {
    method: message.method ?? 'GET',
    path,
    query: new URLSearchParams(query),
    // Only set-cookie comes as a list, and it is no request header.
    headers: message.headers as HttpRequest['headers'],
    body: rest.body,
    signal: rest.signal,
    ...(remoteAddress === undefined ? {} : { remoteAddress }),
    ...(rest.fault === undefined ? {} : { fault: rest.fault }),
  };
}

/** A request line may name the whole URL, as proxies send it. */
function splitUrl(url: string): { readonly path: string; readonly query: string } {
  const target = url.replace(/^https?:\/\/[^/?#]*/i, '');
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  return { path: path === '' ? '/' : path, query: mark < 0 ? '' : target.slice(mark + 1) };
}

/** What fastify refuses while it reads a request, as the doors say it. */
function faultOf(error: FastifyError): CodedError {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    const mebibytes = limits.requestBytesMax / (1024 * 1024);
    return new CodedError('request_too_large', {
      message: `The request is larger than ${mebibytes} MiB. Send large files by url.`,
    });
  }
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new CodedError('unsupported_media_type', {
      message: 'The Content-Type is none. Send "application/json" or "application/a2a+json" in UTF-8.',
    });
  }
  if ((error.statusCode ?? 500) < 500) {
    return new CodedError('invalid_request', { message: 'The request cannot be read.', cause: error });
  }
  return new CodedError('internal', { cause: error });
}
