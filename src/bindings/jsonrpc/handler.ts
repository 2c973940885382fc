import { CodedError, type ErrorCode } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import type { Call } from '../../operations/operations.ts';
import { SKILLS_EXTENSION_URI } from '../../protocol/v1/names.ts';
import { a2aFrames, type FrameShape, prepareFirst } from '../a2a-frames.ts';
import { agentOf, authenticate, callOf, type DoorParts, type DoorPlace } from '../door.ts';
import { checkContentType, readJson } from '../http/body.ts';
import type { HttpRequest, HttpResponse } from '../http/exchange.ts';
import type { Fault } from '../http/fault.ts';
import { activatedExtensions, checkVersion } from '../http/headers.ts';
import { streamResponse } from '../http/sse.ts';
import { faultHeaders, jsonResponse } from '../http/status-body.ts';
import { LargeAnswer, largeResponse } from '../task-answers.ts';
import { type Envelope, idOf, type RequestId, readEnvelope } from './envelope.ts';
import { findMethod, type MethodResult, unknownTenant } from './methods.ts';

/**
 * Faults of the transport have its status too, since proxies, load balancers and retrying clients look at nothing else.
 * Every other answer to a request object is 200.
 */
const transportCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'unauthenticated',
  'permission_denied',
  'method_not_allowed',
  'request_too_large',
  'unsupported_media_type',
  'rate_limited',
  'overloaded',
  'unavailable',
]);

/** JSON-RPC 2.0 over HTTP (A2A 1.0 §9): one request object in, one response object or a stream of them out. */
export async function handleJsonRpc(
  parts: DoorParts,
  request: HttpRequest,
  place: DoorPlace = {},
): Promise<HttpResponse> {
  let id: RequestId = null;
  try {
    if (request.method !== 'POST') throw onlyPost();
    const caller = await authenticate(parts, request);
    const json = readBody(request);
    id = idOf(json);
    const envelope = readEnvelope(json);
    checkVersion(request);
    const result = await run(parts, envelope, (tenant) => {
      const agent = agentOf(parts.agents, place, tenant);
      if (agent === undefined) throw unknownTenant();
      return callOf(request, { caller, agent });
    });
    return await respond(parts, request, { id, result });
  } catch (error) {
    return refuse(parts, id, error);
  }
}

/** An empty body is no JSON either. */
function readBody(request: HttpRequest): unknown {
  checkContentType(request);
  const json = readJson(request);
  if (json === undefined) throw new CodedError('parse_error', { message: 'The body is empty: send a request object.' });
  return json;
}

function run(
  parts: DoorParts,
  envelope: Envelope,
  callFor: (tenant: string | undefined) => Call,
): Promise<MethodResult> {
  return findMethod(envelope.method)(parts.operations, envelope.params, callFor);
}

async function respond(
  parts: DoorParts,
  request: HttpRequest,
  answer: { readonly id: RequestId; readonly result: MethodResult },
): Promise<HttpResponse> {
  const { id, result } = answer;
  const extensions = activatedExtensions(request, [SKILLS_EXTENSION_URI]);
  const headers = extensions.length === 0 ? {} : { 'a2a-extensions': extensions.join(',') };
  if (result.kind === 'value') {
    if (result.json instanceof LargeAnswer) {
      return await largeResponse(parts, result.json.around(opening(id), '}'), {
        contentType: 'application/json',
        headers,
      });
    }
    return jsonResponse({ jsonrpc: '2.0', id, result: result.json }, { contentType: 'application/json', headers });
  }
  const { historyLength } = result;
  await prepareFirst(parts, result.stream, historyLength);
  const frames = a2aFrames(parts, result.stream, {
    shape: shapeFor(id),
    signal: request.signal,
    ...(historyLength === undefined ? {} : { historyLength }),
  });
  return streamResponse(frames, { clock: parts.clock, headers });
}

function shapeFor(id: RequestId): FrameShape {
  return {
    before: opening(id),
    after: '}',
    error: (fault) => JSON.stringify(errorObject(id, fault)),
  };
}

function opening(id: RequestId): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
}

function refuse(parts: DoorParts, id: RequestId, error: unknown): HttpResponse {
  const fault = parts.faults.of(error);
  return jsonResponse(errorObject(id, fault), {
    status: transportCodes.has(fault.code) ? fault.wire.http : 200,
    contentType: 'application/json',
    headers: faultHeaders(fault, parts.authenticator.challenge),
  });
}

function onlyPost(): CodedError {
  const allow = 'POST, OPTIONS';
  return new CodedError('method_not_allowed', { message: `JSON-RPC takes ${allow}.`, metadata: { allow } });
}

function errorObject(id: RequestId, fault: Fault): Json {
  const error = { code: fault.wire.jsonRpc, message: fault.message, data: fault.details as Json };
  return { jsonrpc: '2.0', id, error };
}
