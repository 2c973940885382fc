import { AssertionError } from '../../base/assert.ts';
import { CodedError, isCodedError } from '../../base/errors.ts';

/** What a failed transaction means for its caller. */
export type Failure =
  /** Rolled back for certain, and may well succeed when it is done again: deadlock, serialization. */
  | 'rolled-back'
  /** The connection is gone; nobody can know whether the commit came through. */
  | 'unknown'
  /** A prepared statement of this connection is gone, or its tables have changed; another connection prepares it anew. */
  | 'stale'
  /** Refused or timed out; nothing was written, and doing it again at once will not help. */
  | 'refused'
  /** Our own statement is wrong, or wrote what the constraints forbid. */
  | 'bug';

const ROLLED_BACK = new Set(['40001', '40P01']);
const STALE = new Set(['26000', '0A000', '42P05']);

/**
 * Ours to mend: data exceptions, broken constraints, a statement the server does not understand.
 * 42501 is a right that the operator did not give, 57014 a statement that took too long.
 */
const BUG_CLASSES = new Set(['21', '22', '23', '34', '42']);

/** Ends of a connection: 08 is the connection's own class, 57P the operator's, 25P03 and 25P04 timeouts that close it. */
const LOST = /^(08|57P|25P0[34])/;

/** Judges what `pg` threw, by the server's SQLSTATE where there is one. */
export function classifyFailure(error: unknown): Failure {
  if (isCodedError(error)) return 'refused';
  const state = sqlState(error);
  if (state === undefined) return error instanceof AssertionError || error instanceof TypeError ? 'bug' : 'unknown';
  if (ROLLED_BACK.has(state)) return 'rolled-back';
  if (STALE.has(state)) return 'stale';
  if (LOST.test(state)) return 'unknown';
  if (state !== '42501' && BUG_CLASSES.has(state.slice(0, 2))) return 'bug';
  return 'refused';
}

/** The five characters of the server's answer; undefined when it was not the server that spoke. */
export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  // ECONNRESET and its like stand in the same property.
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && 'severity' in (error as Error) ? code : undefined;
}

/** What callers of the store see: `unavailable`, or the assertion that says that the fault is ours. */
export function toStoreError(error: unknown): Error {
  if (isCodedError(error) || error instanceof AssertionError) return error;
  if (classifyFailure(error) === 'bug') {
    return new AssertionError(`the database refused a statement of ours: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return new CodedError('unavailable', { cause: error });
}

const lost = new WeakSet<Error>();

/** Marks what callers see of a transaction of which nobody knows whether it came through. */
export function markLost(error: Error): Error {
  lost.add(error);
  return error;
}

/** Whether the transaction that threw this may have been committed all the same. */
export function isLost(error: unknown): boolean {
  return error instanceof Error && lost.has(error);
}
