import { AssertionError } from '../../base/assert.ts';
import { CodedError, isCodedError } from '../../base/errors.ts';

/** Primary result codes (https://sqlite.org/rescode.html) that decide what is done about a failure. */
const CODES = {
  error: 1,
  busy: 5,
  ioerr: 10,
  full: 13,
  toobig: 18,
  constraint: 19,
  mismatch: 20,
  misuse: 21,
  range: 25,
};

/** Ours to mend: a statement that SQLite does not understand, or one that wrote what the constraints forbid. */
const BUGS = new Set([CODES.error, CODES.toobig, CODES.constraint, CODES.mismatch, CODES.misuse, CODES.range]);

/** The primary result code of anything thrown; undefined when it was not SQLite that spoke. */
function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined;
  return error.errcode & 0xff;
}

export function isBusy(error: unknown): boolean {
  return sqliteCode(error) === CODES.busy;
}

/** The disk itself failed: after it at a commit nobody can know what a later read would find. */
export function isIoError(error: unknown): boolean {
  return sqliteCode(error) === CODES.ioerr;
}

/** What callers of the store see: `unavailable`, or the assertion that says that the fault is ours. */
export function toStoreError(error: unknown): Error {
  if (isCodedError(error) || error instanceof AssertionError) return error;
  const code = sqliteCode(error);
  if (code !== undefined && BUGS.has(code)) {
    const { message } = error as Error;
    return new AssertionError(`SQLite refused a statement of ours: ${message}`, { cause: error });
  }
  if (code === undefined && error instanceof Error && !isClosed(error)) return error;
  return new CodedError('unavailable', { cause: error });
}

/** Node says so of a statement whose database was closed. */
function isClosed(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_INVALID_STATE';
}
