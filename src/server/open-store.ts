import { realpathSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
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

/** Opens the store that a text names. Throws with one line that says what to write, or what keeps it from opening. */
export async function openStore(
  choice: StoreChoice,
  parts: { readonly clock: Clock; readonly logger: Logger; readonly migrate: boolean },
): Promise<OpenedStore> {
  if (typeof choice !== 'string') return { store: choice, close: async () => {} };
  const { clock, logger, migrate } = parts;
  if (choice === 'memory') return owned(await openMemoryStore({ clock }));
  if (choice.startsWith('sqlite:') && choice.length > 'sqlite:'.length) {
    const path = choice.slice('sqlite:'.length);
    const store = await openSqliteStore({ path, clock, migrate });
    return { ...owned(store), file: realpathSync(path) };
  }
  if (/^postgres(ql)?:\/\//.test(choice)) return owned(await openPostgresStore({ url: choice, logger, migrate }));
  throw new CodedError('invalid_argument', {
    message: 'This is no store. Write memory, sqlite:PATH or postgres://user:password@host:port/database.',
  });
}

function owned(store: SystemStore): OpenedStore {
  return { store, close: () => store.close() };
}
