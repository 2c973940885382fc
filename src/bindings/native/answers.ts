import type { Json } from '../../base/json.ts';
import { decodeWith, type ObjectReader } from '../../protocol/v1/read.ts';
import type { HttpRequest, HttpResponse } from '../http/exchange.ts';
import { prefers } from '../http/headers.ts';
import { jsonResponse } from '../http/status-body.ts';

export const JSON_TYPE = 'application/json';
const EVENT_STREAM = 'text/event-stream';

export function answer(json: Json, status = 200): HttpResponse {
  return jsonResponse(json, { status, contentType: JSON_TYPE, headers: { 'cache-control': 'no-store' } });
}

/** Reads the parameters that a route knows; each may be given once. */
export function readQuery<Query>(request: HttpRequest, read: (reader: ObjectReader) => Query): Query {
  return decodeWith(Object.fromEntries(request.query), read);
}

export function wantsEvents(request: HttpRequest): boolean {
  return request.method !== 'HEAD' && prefers(request, EVENT_STREAM, JSON_TYPE);
}

export function wantsJson(request: HttpRequest): boolean {
  return prefers(request, JSON_TYPE, EVENT_STREAM);
}
