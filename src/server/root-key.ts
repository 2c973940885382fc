import { readFileSync, writeFileSync } from 'node:fs';
import { CodedError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import type { OpenedStore } from './open-store.ts';

const KEY_BYTES = 32;
/** 32 random bytes are 43 characters in base64; less than this was typed by hand. */
const KEY_CHARS_MIN = 32;

/**
 * The root of all keys: what was given, else a file beside the SQLite database, else a random one where the data dies
 * with the process anyway. PostgreSQL has none of its own: every node needs the same, so it must be given.
 */
export function rootKey(given: string | undefined, opened: OpenedStore, random: Random): Uint8Array {
  if (given !== undefined) return checked(given, 'HOLDFAST_SECRETS_KEY');
  if (opened.file !== undefined) return fileKey(`${opened.file}-key`, random);
  if (opened.store.name === 'memory') return random.bytes(KEY_BYTES);
  throw new CodedError('invalid_argument', {
    message:
      `HOLDFAST_SECRETS_KEY is not set. With ${opened.store.name} every node needs the same key: ` +
      'make one with "openssl rand -base64 32" and set it on each.',
  });
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
