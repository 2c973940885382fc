/**
 * Every answer that is not a success, in one list. The wire form of each code stands in
 * `bindings/error-table.ts`; each has a page under `docs/errors/`.
 */
export type ErrorCode =
  | 'parse_error'
  | 'invalid_request'
  | 'method_not_found'
  | 'route_not_found'
  | 'method_not_allowed'
  | 'unsupported_media_type'
  | 'invalid_argument'
  | 'message_id_conflict'
  | 'unauthenticated'
  | 'permission_denied'
  | 'task_not_found'
  | 'session_not_found'
  | 'artifact_not_found'
  | 'agent_not_found'
  | 'task_not_cancelable'
  | 'push_notification_not_supported'
  | 'unsupported_operation'
  | 'content_type_not_supported'
  | 'invalid_agent_response'
  | 'extended_agent_card_not_configured'
  | 'extension_support_required'
  | 'version_not_supported'
  | 'request_too_large'
  | 'rate_limited'
  | 'overloaded'
  | 'unavailable'
  | 'lease_lost'
  | 'internal';

/** One thing wrong with one field, as `google.rpc.BadRequest.FieldViolation` says it. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

export interface ErrorDetail {
  /** What the caller should read; safe to show. Without one the code's standard text is used. */
  readonly message?: string;
  readonly violations?: readonly FieldViolation[];
  /** Facts for `ErrorInfo.metadata`; never secrets, never another caller's data. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly retryAfterSeconds?: number;
  /** For the log; never reaches the wire. */
  readonly cause?: unknown;
}

/** An answer that a caller can act on. Code that handles errors reads `code`, never `instanceof`. */
export class CodedError extends Error {
  override readonly name = 'CodedError';
  readonly code: ErrorCode;
  readonly detail: ErrorDetail;

  constructor(code: ErrorCode, detail: ErrorDetail = {}) {
    super(detail.message ?? code, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.code = code;
    this.detail = detail;
  }
}

/** The code of anything thrown; `internal` for what is not one of ours. */
export function errorCode(error: unknown): ErrorCode {
  return isCodedError(error) ? error.code : 'internal';
}

/** True for a `CodedError` of any copy of this package. */
export function isCodedError(error: unknown): error is CodedError {
  return error instanceof Error && error.name === 'CodedError' && 'code' in error;
}

/** InvalidParams that names its field: `fieldError('message.parts', 'at least one part is required')`. */
export function fieldError(field: string, description: string): CodedError {
  return fieldErrors([{ field, description }]);
}

/** Violations that the message spells out; the others are counted there and stand in the details. */
const SPELLED_OUT_MAX = 3;

/** InvalidParams that names everything that was found wrong with one request. */
export function fieldErrors(violations: readonly FieldViolation[]): CodedError {
  const spelledOut = violations.slice(0, SPELLED_OUT_MAX).map(({ field, description }) => `${field}: ${description}`);
  const more = violations.length - spelledOut.length;
  const message = spelledOut.join('; ') + (more > 0 ? `; and ${more} more` : '');
  return new CodedError('invalid_argument', { message, violations });
}
