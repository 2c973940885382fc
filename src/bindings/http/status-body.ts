import type { Json, JsonObject } from '../../base/json.ts';
import type { HttpResponse } from './exchange.ts';
import type { Fault } from './fault.ts';

/** `google.rpc.Status` as HTTP+JSON and the native API write it (A2A 1.0 §11.6). */
export function statusBody(fault: Fault): JsonObject {
  const { http, grpc } = fault.wire;
  return { error: { code: http, status: grpc, message: fault.message, details: fault.details as Json } };
}

/** Headers that a fault has on every binding over HTTP. */
export function faultHeaders(fault: Fault, challenge: string | undefined): Record<string, string> {
  const { allow } = fault.metadata;
  return {
    ...(fault.code === 'unauthenticated' && challenge !== undefined ? { 'www-authenticate': challenge } : {}),
    ...(fault.code === 'method_not_allowed' && allow !== undefined ? { allow } : {}),
    ...(fault.retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.ceil(fault.retryAfterSeconds)) }),
  };
}

/** The answer of HTTP+JSON, the native API and the plain doors to whatever was thrown. */
export function refuseWithStatus(
  fault: Fault,
  options: { readonly contentType: string; readonly challenge: string | undefined },
): HttpResponse {
  return jsonResponse(statusBody(fault), {
    status: fault.wire.http,
    contentType: options.contentType,
    headers: faultHeaders(fault, options.challenge),
  });
}

export function jsonResponse(
  json: Json,
  options: {
    readonly status?: number;
    readonly contentType: string;
    readonly headers?: Readonly<Record<string, string>>;
  },
): HttpResponse {
  return {
    status: options.status ?? 200,
    headers: { 'content-type': options.contentType, ...options.headers },
    body: JSON.stringify(json),
  };
}
