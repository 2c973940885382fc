import { CodedError } from '../../base/errors.ts';
import { isJsonObject, type Json } from '../../base/json.ts';

export type RequestId = string | number | null;

export interface Envelope {
  readonly id: RequestId;
  readonly method: string;
  /** Absent when the request has none. */
  readonly params: unknown;
}

/** The id to answer under: the request's own if it is one, else null (JSON-RPC 2.0 §5). */
export function idOf(json: unknown): RequestId {
  const id = isJsonObject(json) ? json.id : undefined;
  return isRequestId(id) ? id : null;
}

/** Reads a request object. Throws `invalid_request` for whatever is none: batches too, which A2A does not have. */
export function readEnvelope(json: unknown): Envelope {
  if (Array.isArray(json)) throw invalid('Batches are not supported: send one request object at a time.');
  if (!isJsonObject(json)) throw invalid('The body must be one JSON-RPC request object.');
  if (json.jsonrpc !== '2.0') throw invalid('"jsonrpc" must be "2.0".');
  if (json.id === undefined) throw invalid('"id" is missing. A2A has no notifications: every request is answered.');
  if (!isRequestId(json.id)) throw invalid('"id" must be a string, a number or null.');
  if (typeof json.method !== 'string') throw invalid('"method" must be a string, such as "SendMessage".');
  return { id: json.id, method: json.method, params: json.params };
}

function isRequestId(id: Json | undefined): id is RequestId {
  return id === null || typeof id === 'string' || typeof id === 'number';
}

function invalid(message: string): CodedError {
  return new CodedError('invalid_request', { message });
}
