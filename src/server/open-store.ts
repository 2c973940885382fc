import { realpathSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { CodedError, isCodedError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { SystemStore } from '../store/contract.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { openPostgresStore } from '../store/postgres/postgres-store.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';

/** Where the data is: `memory`, `sqlite:PATH`, `postgres://…`, or a store that somebody else opened and will close. */
export type StoreChoice = string | SystemStore;

export interface OpenedStore {
  readonly store: SystemStore;
  /** The database file, where there is one. */
  readonly file?: string;
  /** Closes the store if it was opened here. */
  close(): Promise<void>;
}

/** How a store is opened. */
interface OpenParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly migrate: boolean;
}

/** Opens the store that a text names. Throws with one line that says what to write, or what keeps it from opening. */
export async function openStore(choice: StoreChoice, parts: OpenParts): Promise<OpenedStore> {
  if (typeof choice !== 'string') return { store: choice, close: async () => {} };
  if (choice === 'memory') return owned(await openMemoryStore({ clock: parts.clock }));
  if (choice.startsWith('sqlite:') && choice.length > 'sqlite:'.length) {
    return await openSqlite(choice.slice('sqlite:'.length), parts);
  }
  if (namesPostgres(choice) && URL.canParse(choice)) return await openPostgres(choice, parts);
  throw new CodedError('invalid_argument', {
    message: 'This is no store. Write memory, sqlite:PATH or postgres://user:password@host:port/database.',
  });
}

/** Whether the text names a PostgreSQL database. */
export function namesPostgres(choice: string): boolean {
  return /^postgres(ql)?:\/\//.test(choice);
}

async function openSqlite(path: string, { clock, logger, migrate }: OpenParts): Promise<OpenedStore> {
  const store = await openSqliteStore({ path, clock, logger, migrate }).catch((error: unknown) => {
    throw inOneLine(error, path);
  });
  return { ...owned(store), file: realpathSync(path) };
}

async function openPostgres(url: string, { logger, migrate }: OpenParts): Promise<OpenedStore> {
  const { host, pathname } = new URL(url);
  const store = await openPostgresStore({ url, logger, migrate }).catch((error: unknown) => {
    throw inOneLine(error, `PostgreSQL at ${host}${pathname}`);
  });
  return owned(store);
}

/** What a disk or a network says, with the place it is about; an error that has words of its own is left as it is. */
function inOneLine(error: unknown, place: string): unknown {
  const hasWords = isCodedError(error) ? error.detail.message !== undefined : systemCode(error) === undefined;
  if (hasWords) return error;
  const cause: unknown = isCodedError(error) ? error.detail.cause : error;
  // A host with several addresses that all refuse is told without words, with a code alone.
  const why = (cause instanceof Error && cause.message) || systemCode(cause) || 'nobody says why';
  return new CodedError('unavailable', { message: `${place} cannot be opened: ${why}.`, cause });
}

/** `EACCES`, `ERR_SQLITE_ERROR` and the like. */
function systemCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

function owned(store: SystemStore): OpenedStore {
  return { store, close: () => store.close() };
}
