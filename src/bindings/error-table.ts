import type { ErrorCode } from '../base/errors.ts';

/** The wire form of one code: a column a binding. */
export interface WireError {
  readonly jsonRpc: number;
  readonly http: number;
  readonly grpc: GrpcStatus;
  /** The text when the error brings none, and the only one for errors whose own text stays inside. */
  readonly text: string;
  /** `google.rpc.ErrorInfo`: what a program reads. */
  readonly reason: string;
  readonly domain: 'a2a-protocol.org' | 'holdfast.dev';
  /** `same-message`: it may have been taken, so repeat it under its message id. `later`: nothing was taken. */
  readonly retry: 'never' | 'same-message' | 'later';
}

type GrpcStatus =
  | 'INVALID_ARGUMENT'
  | 'NOT_FOUND'
  | 'FAILED_PRECONDITION'
  | 'UNIMPLEMENTED'
  | 'UNAUTHENTICATED'
  | 'PERMISSION_DENIED'
  | 'RESOURCE_EXHAUSTED'
  | 'UNAVAILABLE'
  | 'INTERNAL';

type Columns = readonly [jsonRpc: number, http: number, grpc: GrpcStatus];

function a2a(columns: Columns, reason: string, text: string): WireError {
  const [jsonRpc, http, grpc] = columns;
  return { jsonRpc, http, grpc, text, reason, domain: 'a2a-protocol.org', retry: 'never' };
}

function ours(columns: Columns, reason: string, text: string, retry: WireError['retry'] = 'never'): WireError {
  const [jsonRpc, http, grpc] = columns;
  return { jsonRpc, http, grpc, text, reason, domain: 'holdfast.dev', retry };
}

/**
 * Every error code on every binding. The codes of A2A are section 5.4 of its specification 1.0; texts of the JSON-RPC
 * ones its section 9.5. What is ours has -32000, the first number that A2A leaves free, and is told apart by its reason.
 */
export const errorTable: Readonly<Record<ErrorCode, WireError>> = {
  task_not_found: a2a([-32001, 404, 'NOT_FOUND'], 'TASK_NOT_FOUND', 'Task not found'),
  task_not_cancelable: a2a([-32002, 400, 'FAILED_PRECONDITION'], 'TASK_NOT_CANCELABLE', 'Task cannot be canceled'),
  push_notification_not_supported: a2a(
    [-32003, 400, 'FAILED_PRECONDITION'],
    'PUSH_NOTIFICATION_NOT_SUPPORTED',
    'Push notifications are not supported',
  ),
  unsupported_operation: a2a(
    [-32004, 400, 'FAILED_PRECONDITION'],
    'UNSUPPORTED_OPERATION',
    'This operation is not supported',
  ),
  content_type_not_supported: a2a(
    [-32005, 400, 'INVALID_ARGUMENT'],
    'CONTENT_TYPE_NOT_SUPPORTED',
    'Content type not supported',
  ),
  unsupported_media_type: a2a(
    [-32005, 415, 'INVALID_ARGUMENT'],
    'CONTENT_TYPE_NOT_SUPPORTED',
    'Content-Type not supported',
  ),
  invalid_agent_response: a2a(
    [-32006, 500, 'INTERNAL'],
    'INVALID_AGENT_RESPONSE',
    'The agent gave an invalid response',
  ),
  extended_agent_card_not_configured: a2a(
    [-32007, 400, 'FAILED_PRECONDITION'],
    'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
    'No extended agent card is configured',
  ),
  extension_support_required: a2a(
    [-32008, 400, 'FAILED_PRECONDITION'],
    'EXTENSION_SUPPORT_REQUIRED',
    'An extension is required',
  ),
  version_not_supported: a2a(
    [-32009, 400, 'FAILED_PRECONDITION'],
    'VERSION_NOT_SUPPORTED',
    'This A2A version is not supported',
  ),

  parse_error: ours([-32700, 400, 'INVALID_ARGUMENT'], 'PARSE_ERROR', 'Invalid JSON payload'),
  invalid_request: ours([-32600, 400, 'INVALID_ARGUMENT'], 'INVALID_REQUEST', 'Request payload validation error'),
  method_not_found: ours([-32601, 404, 'UNIMPLEMENTED'], 'METHOD_NOT_FOUND', 'Method not found'),
  route_not_found: ours([-32601, 404, 'NOT_FOUND'], 'ROUTE_NOT_FOUND', 'There is nothing at this path'),
  method_not_allowed: ours([-32600, 405, 'UNIMPLEMENTED'], 'METHOD_NOT_ALLOWED', 'This path takes other methods'),
  invalid_argument: ours([-32602, 400, 'INVALID_ARGUMENT'], 'INVALID_PARAMS', 'Invalid parameters'),
  message_id_conflict: ours(
    [-32602, 400, 'INVALID_ARGUMENT'],
    'MESSAGE_ID_CONFLICT',
    'This messageId was used for other content',
  ),
  unauthenticated: ours([-32000, 401, 'UNAUTHENTICATED'], 'UNAUTHENTICATED', 'Credentials are missing or wrong'),
  permission_denied: ours([-32000, 403, 'PERMISSION_DENIED'], 'PERMISSION_DENIED', 'You may not do this'),
  session_not_found: ours([-32602, 404, 'NOT_FOUND'], 'SESSION_NOT_FOUND', 'Session not found'),
  artifact_not_found: ours([-32602, 404, 'NOT_FOUND'], 'ARTIFACT_NOT_FOUND', 'Artifact not found'),
  agent_not_found: ours([-32602, 404, 'NOT_FOUND'], 'AGENT_NOT_FOUND', 'There is no such agent'),
  request_too_large: ours([-32600, 413, 'INVALID_ARGUMENT'], 'REQUEST_TOO_LARGE', 'The request is too large'),
  rate_limited: ours([-32000, 429, 'RESOURCE_EXHAUSTED'], 'RATE_LIMITED', 'Too many requests', 'later'),
  overloaded: ours([-32000, 503, 'UNAVAILABLE'], 'OVERLOADED', 'Too busy to take this now', 'later'),
  unavailable: ours([-32000, 503, 'UNAVAILABLE'], 'UNAVAILABLE', 'The server cannot answer now', 'same-message'),
  lease_lost: ours([-32603, 500, 'INTERNAL'], 'INTERNAL', 'Internal error', 'same-message'),
  internal: ours([-32603, 500, 'INTERNAL'], 'INTERNAL', 'Internal error', 'same-message'),
};
