import { limits } from '../base/limits.ts';
import { decodeJournalValue } from './codec.ts';
import { Declined, Expired, Fail, Reject } from './errors.ts';

/** No value of a step begins like this: the codec puts a tag around an object that has this key. */
const BEGINNING = '{"$":["failed",';

interface StoredFailure {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly page?: string;
}

/** The journal's text for what a step threw: enough to throw it again, and no stack. */
export function encodeStepFailure(error: unknown): string {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const { code, page } = (error ?? {}) as { readonly code?: unknown; readonly page?: unknown };
  const stored: StoredFailure = {
    name: String(name),
    message: String(message).slice(0, limits.errorTextCharsMax),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof page === 'string' ? { page } : {}),
  };
  return `${BEGINNING}${JSON.stringify(stored)}]}`;
}

/** The value that a step returned, or throws what it threw: an error of the same name, text and code. */
export function decodeStepOutcome(text: string): unknown {
  if (!text.startsWith(BEGINNING)) return decodeJournalValue(text);
  const { $: tagged } = JSON.parse(text) as { readonly $: readonly [string, StoredFailure] };
  throw restoreError(tagged[1]);
}

function restoreError({ name, message, code, page }: StoredFailure): Error {
  switch (name) {
    case 'Reject':
      return new Reject(message);
    case 'Fail':
      return new Fail(message, code === undefined ? {} : { code });
    case 'Expired':
      return new Expired(message);
    case 'Declined':
      return new Declined(message);
    default: {
      const error = new Error(message);
      Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true });
      return Object.assign(error, code === undefined ? {} : { code }, page === undefined ? {} : { page });
    }
  }
}
