import type { FieldViolation } from '../base/errors.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';

/**
 * Why a call of a client brought nothing. `protocol`: the server answered with an error, whose A2A name is the same over
 * every binding. `busy`: it takes nothing now. The others never were an answer of A2A.
 */
export type ClientErrorKind =
  | 'protocol'
  | 'busy'
  | 'unauthenticated'
  | 'forbidden'
  | 'unreachable'
  | 'lost'
  | 'bad-answer'
  | 'card-not-found'
  | 'card-invalid';

interface ClientErrorFacts {
  /** `TaskNotFoundError` and the like (A2A 1.0 §5.4, §9.5). */
  readonly a2aName?: string;
  /** The number the binding carried: JSON-RPC's code or HTTP's status. */
  readonly wireCode?: number;
  readonly violations?: readonly FieldViolation[];
  readonly retryAfterSeconds?: number;
  /** The server says whether the same message may be sent again. */
  readonly mayRepeat?: boolean;
  readonly cause?: unknown;
}

export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly kind: ClientErrorKind;
  readonly facts: ClientErrorFacts;

  constructor(kind: ClientErrorKind, message: string, facts: ClientErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.kind = kind;
    this.facts = facts;
  }
}

const JSON_RPC_NAMES: Readonly<Record<number, string>> = {
  [-32700]: 'JSONParseError',
  [-32600]: 'InvalidRequestError',
  [-32601]: 'MethodNotFoundError',
  [-32602]: 'InvalidParamsError',
  [-32603]: 'InternalError',
  [-32001]: 'TaskNotFoundError',
  [-32002]: 'TaskNotCancelableError',
  [-32003]: 'PushNotificationNotSupportedError',
  [-32004]: 'UnsupportedOperationError',
  [-32005]: 'ContentTypeNotSupportedError',
  [-32006]: 'InvalidAgentResponseError',
  [-32007]: 'ExtendedAgentCardNotConfiguredError',
  [-32008]: 'ExtensionSupportRequiredError',
  [-32009]: 'VersionNotSupportedError',
};
const A2A_NAMES: ReadonlySet<string> = new Set(Object.values(JSON_RPC_NAMES));

/** HTTP+JSON says the errors that JSON-RPC numbers by a status alone. */
const STATUS_NAMES: Readonly<Record<string, string>> = {
  INVALID_ARGUMENT: 'InvalidParamsError',
  UNIMPLEMENTED: 'MethodNotFoundError',
  INTERNAL: 'InternalError',
};
/** Reasons of Holdfast for errors that JSON-RPC has a number of its own for. */
const REASON_NAMES: Readonly<Record<string, string>> = {
  PARSE_ERROR: 'JSONParseError',
  INVALID_REQUEST: 'InvalidRequestError',
  REQUEST_TOO_LARGE: 'InvalidRequestError',
  METHOD_NOT_ALLOWED: 'InvalidRequestError',
  ROUTE_NOT_FOUND: 'MethodNotFoundError',
};

/** The error of a JSON-RPC error object, or of a `google.rpc.Status`; `httpStatus` is what HTTP said beside it. */
export function errorOfAnswer(error: unknown, httpStatus: number, retryAfter: string | null): ClientError {
  const body: JsonObject = isJsonObject(error) ? error : {};
  const details = listOf(body.details ?? body.data);
  const info = details.find((detail) => typeof detail.reason === 'string');
  const code = typeof body.code === 'number' ? body.code : httpStatus;
  const a2aName = nameOf(code, body.status, info);
  const retryAfterSeconds = retrySeconds(details, retryAfter);
  const retry = isJsonObject(info?.metadata) ? info.metadata.retry : undefined;
  const message = typeof body.message === 'string' && body.message !== '' ? body.message : `HTTP ${httpStatus}`;
  return new ClientError(kindOf(httpStatus, body.status, info), message, {
    wireCode: code,
    violations: details.flatMap(violationsOf),
    ...(a2aName === undefined ? {} : { a2aName }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(retry === 'later' || retry === 'same-message' ? { mayRepeat: true } : {}),
  });
}

function kindOf(httpStatus: number, status: unknown, info: JsonObject | undefined): ClientErrorKind {
  const words = [status, info?.reason];
  if (httpStatus === 401 || words.includes('UNAUTHENTICATED')) return 'unauthenticated';
  if (httpStatus === 403 || words.includes('PERMISSION_DENIED')) return 'forbidden';
  const isBusy = ['RATE_LIMITED', 'OVERLOADED', 'UNAVAILABLE', 'RESOURCE_EXHAUSTED'].some((word) =>
    words.includes(word),
  );
  return httpStatus === 429 || httpStatus === 503 || isBusy ? 'busy' : 'protocol';
}

function nameOf(code: number, status: unknown, info: JsonObject | undefined): string | undefined {
  const reason = typeof info?.reason === 'string' ? info.reason : '';
  const named = REASON_NAMES[reason] ?? pascal(reason);
  if (A2A_NAMES.has(named)) return named;
  return JSON_RPC_NAMES[code] ?? (typeof status === 'string' ? STATUS_NAMES[status] : undefined);
}

/** `TASK_NOT_FOUND` → `TaskNotFoundError`. */
function pascal(reason: string): string {
  const words = reason.split('_').map((word) => word.charAt(0) + word.slice(1).toLowerCase());
  return `${words.join('')}Error`;
}

function retrySeconds(details: readonly JsonObject[], header: string | null): number | undefined {
  const delay = details.find((detail) => typeof detail.retryDelay === 'string')?.retryDelay;
  const seconds = Number.parseFloat(typeof delay === 'string' ? delay : (header ?? ''));
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}

function violationsOf(detail: JsonObject): readonly FieldViolation[] {
  return listOf(detail.fieldViolations).map(({ field, description }) => ({
    field: String(field ?? ''),
    description: String(description ?? ''),
  }));
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
