import type { CodedError } from '../../base/errors.ts';

/** An HTTP request as a value. */
export interface HttpRequest {
  readonly method: string;
  /** As it was sent: still percent-encoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  /** Fires when the client has gone or the server stops waiting. */
  readonly signal: AbortSignal;
  readonly remoteAddress?: string;
  /** What the listener found wrong while it read the request; a binding answers it in its own envelope. */
  readonly fault?: CodedError;
}

/** An HTTP response as a value. A body that comes in pieces is a stream: frames, or what is too much to have in hand. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | AsyncIterable<string | Uint8Array>;
}

/** A binding over HTTP is a function of values; the port is someone else's business. */
export type HttpBinding = (request: HttpRequest) => Promise<HttpResponse>;

export function isStream(body: HttpResponse['body']): body is AsyncIterable<string | Uint8Array> {
  return typeof body === 'object' && Symbol.asyncIterator in body;
}
