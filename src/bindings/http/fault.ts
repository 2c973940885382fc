import { assert } from '../../base/assert.ts';
import { type CodedError, type ErrorCode, type ErrorDetail, isCodedError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import type { NewId } from '../../base/unique-id.ts';
import { errorTable, type WireError } from '../error-table.ts';

/** An error as every binding writes it: its row of the table, a text for people, details for programs. */
export interface Fault {
  readonly code: ErrorCode;
  readonly wire: WireError;
  readonly message: string;
  /** `google.rpc` objects, `ErrorInfo` first. */
  readonly details: readonly JsonObject[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly retryAfterSeconds?: number;
}

const TYPE = 'type.googleapis.com/google.rpc.';
/** The text of these stays inside: it may be anybody's. */
const hiddenTexts: ReadonlySet<ErrorCode> = new Set(['internal', 'lease_lost']);

/** Makes faults of whatever was thrown. What nobody meant to show is logged under an error id, which alone leaves the server. */
export class Faults {
  readonly #log: Logger;
  readonly #newId: NewId;

  constructor(parts: { readonly log: Logger; readonly newId: NewId }) {
    this.#log = parts.log;
    this.#newId = parts.newId;
  }

  of(error: unknown): Fault {
    if (isCodedError(error) && !hiddenTexts.has(error.code)) {
      const { cause } = error.detail;
      if (cause !== undefined) this.#log.warn('request refused', { code: error.code, error: cause });
      return describe(error.code, error.detail);
    }
    const errorId = this.#newId();
    this.#log.error('request failed', { errorId, error: causeOf(error) });
    return describe(isCodedError(error) ? error.code : 'internal', { metadata: { errorId } });
  }
}

function causeOf(error: unknown): unknown {
  return isCodedError(error) ? ((error as CodedError).detail.cause ?? error) : error;
}

function describe(code: ErrorCode, detail: ErrorDetail): Fault {
  const wire = errorTable[code];
  assert(wire !== undefined, 'every code has a row');
  const { retryAfterSeconds } = detail;
  const metadata = { ...detail.metadata, ...(wire.retry === 'never' ? {} : { retry: wire.retry }) };
  return {
    code,
    wire,
    message: detail.message ?? wire.text,
    details: [errorInfo(wire, metadata), ...badRequest(detail), ...retryInfo(retryAfterSeconds)],
    metadata,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}

function errorInfo(wire: WireError, metadata: Readonly<Record<string, string>>): JsonObject {
  return {
    '@type': `${TYPE}ErrorInfo`,
    reason: wire.reason,
    domain: wire.domain,
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
}

function badRequest({ violations = [] }: ErrorDetail): readonly JsonObject[] {
  if (violations.length === 0) return [];
  const fieldViolations = violations.map(({ field, description }) => ({ field, description }));
  return [{ '@type': `${TYPE}BadRequest`, fieldViolations }];
}

function retryInfo(retryAfterSeconds: number | undefined): readonly JsonObject[] {
  return retryAfterSeconds === undefined ? [] : [{ '@type': `${TYPE}RetryInfo`, retryDelay: `${retryAfterSeconds}s` }];
}
