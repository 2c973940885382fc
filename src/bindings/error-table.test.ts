import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errorTable } from './error-table.ts';

/** What peers see: JSON-RPC code, HTTP status, gRPC status, reason, domain, retry. Never weaken a line. */
const pinned: Readonly<Record<string, string>> = {
  parse_error: '-32700 400 INVALID_ARGUMENT PARSE_ERROR holdfast.dev never',
  invalid_request: '-32600 400 INVALID_ARGUMENT INVALID_REQUEST holdfast.dev never',
  method_not_found: '-32601 404 UNIMPLEMENTED METHOD_NOT_FOUND holdfast.dev never',
  route_not_found: '-32601 404 NOT_FOUND ROUTE_NOT_FOUND holdfast.dev never',
  method_not_allowed: '-32600 405 UNIMPLEMENTED METHOD_NOT_ALLOWED holdfast.dev never',
  unsupported_media_type: '-32005 415 INVALID_ARGUMENT CONTENT_TYPE_NOT_SUPPORTED a2a-protocol.org never',
  invalid_argument: '-32602 400 INVALID_ARGUMENT INVALID_PARAMS holdfast.dev never',
  message_id_conflict: '-32602 400 INVALID_ARGUMENT MESSAGE_ID_CONFLICT holdfast.dev never',
  unauthenticated: '-32000 401 UNAUTHENTICATED UNAUTHENTICATED holdfast.dev never',
  permission_denied: '-32000 403 PERMISSION_DENIED PERMISSION_DENIED holdfast.dev never',
  task_not_found: '-32001 404 NOT_FOUND TASK_NOT_FOUND a2a-protocol.org never',
  session_not_found: '-32602 404 NOT_FOUND SESSION_NOT_FOUND holdfast.dev never',
  artifact_not_found: '-32602 404 NOT_FOUND ARTIFACT_NOT_FOUND holdfast.dev never',
  agent_not_found: '-32602 404 NOT_FOUND AGENT_NOT_FOUND holdfast.dev never',
  task_not_cancelable: '-32002 400 FAILED_PRECONDITION TASK_NOT_CANCELABLE a2a-protocol.org never',
  push_notification_not_supported:
    '-32003 400 FAILED_PRECONDITION PUSH_NOTIFICATION_NOT_SUPPORTED a2a-protocol.org never',
  unsupported_operation: '-32004 400 FAILED_PRECONDITION UNSUPPORTED_OPERATION a2a-protocol.org never',
  content_type_not_supported: '-32005 400 INVALID_ARGUMENT CONTENT_TYPE_NOT_SUPPORTED a2a-protocol.org never',
  invalid_agent_response: '-32006 500 INTERNAL INVALID_AGENT_RESPONSE a2a-protocol.org never',
  extended_agent_card_not_configured:
    '-32007 400 FAILED_PRECONDITION EXTENDED_AGENT_CARD_NOT_CONFIGURED a2a-protocol.org never',
  extension_support_required: '-32008 400 FAILED_PRECONDITION EXTENSION_SUPPORT_REQUIRED a2a-protocol.org never',
  version_not_supported: '-32009 400 FAILED_PRECONDITION VERSION_NOT_SUPPORTED a2a-protocol.org never',
  request_too_large: '-32600 413 INVALID_ARGUMENT REQUEST_TOO_LARGE holdfast.dev never',
  rate_limited: '-32000 429 RESOURCE_EXHAUSTED RATE_LIMITED holdfast.dev later',
  overloaded: '-32000 503 UNAVAILABLE OVERLOADED holdfast.dev later',
  unavailable: '-32000 503 UNAVAILABLE UNAVAILABLE holdfast.dev same-message',
  lease_lost: '-32603 500 INTERNAL INTERNAL holdfast.dev same-message',
  internal: '-32603 500 INTERNAL INTERNAL holdfast.dev same-message',
};

test('every code has its wire form on every binding', () => {
  const rows = Object.entries(errorTable).map(([code, row]) => [
    code,
    `${row.jsonRpc} ${row.http} ${row.grpc} ${row.reason} ${row.domain} ${row.retry}`,
  ]);
  expect(Object.fromEntries(rows)).toEqual(pinned);
});

test('every reason has its page in docs/errors', () => {
  const index = readFileSync(new URL('../../docs/errors/README.md', import.meta.url), 'utf8');
  for (const { reason } of Object.values(errorTable)) {
    expect(index).toContain(`[${reason}](${reason.toLowerCase().replaceAll('_', '-')}.md)`);
  }
});
