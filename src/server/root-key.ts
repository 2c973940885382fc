import { readFileSync, writeFileSync } from 'node:fs';
import { CodedError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import { namesPostgres, type OpenedStore, type StoreChoice } from './open-store.ts';

const KEY_BYTES = 32;
/** 32 random bytes are 43 characters in base64; less than this was typed by hand. */
const KEY_CHARS_MIN = 32;

/**
 * The root of all keys that was given, judged before any store is opened. Undefined where the store brings one of its own;
 * PostgreSQL has none: every node needs the same, so it must be given.
 */
export function givenRootKey(given: string | undefined, choice: StoreChoice): Uint8Array | undefined {
  if (given !== undefined) return checked(given, 'HOLDFAST_SECRETS_KEY');
  const keyless = nameOfKeyless(choice);
  if (keyless === undefined) return undefined;
  throw new CodedError('invalid_argument', {
    message:
      `HOLDFAST_SECRETS_KEY is not set. With ${keyless} every node needs the same key: ` +
      'make one with "openssl rand -base64 32" and set it on each.',
  });
}

/** A store that keeps its data and has no place for a key: PostgreSQL, and whatever somebody else opened. */
function nameOfKeyless(choice: StoreChoice): string | undefined {
  if (typeof choice === 'string') return namesPostgres(choice) ? 'PostgreSQL' : undefined;
  return choice.name === 'memory' ? undefined : choice.name;
}

/** The key of a store that brings its own: a file beside the SQLite database, a random one where the data dies with the process. */
export function ownRootKey(opened: OpenedStore, random: Random): Uint8Array {
  if (opened.file !== undefined) return fileKey(`${opened.file}-key`, random);
  return random.bytes(KEY_BYTES);
}

function checked(text: string, where: string): Uint8Array {
  const key = text.trim();
  if (key.length >= KEY_CHARS_MIN) return Buffer.from(key);
  throw new CodedError('invalid_argument', {
    message: `${where} is too short: it needs at least ${KEY_CHARS_MIN} characters, such as those of "openssl rand -base64 32".`,
  });
}

/** Made once, readable for its owner alone. The store is open, so no other process makes it at the same time. */
function fileKey(path: string, random: Random): Uint8Array {
  const known = readIfThere(path);
  if (known !== undefined) return checked(known, path);
  const key = Buffer.from(random.bytes(KEY_BYTES)).toString('base64');
  writeFileSync(path, `${key}\n`, { mode: 0o600, flag: 'wx', flush: true });
  return Buffer.from(key);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
