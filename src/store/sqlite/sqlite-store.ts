import { chmodSync, existsSync, mkdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { CodedError } from '../../base/errors.ts';
import { type Logger, silentLogger } from '../../base/log.ts';
import { type Random, systemRandom } from '../../base/random.ts';
import type { SystemStore } from '../contract.ts';
import { migrateUp, migrationStatus, requireMigrated } from '../sql/migrate.ts';
import { Access } from './access.ts';
import { Connection } from './connection.ts';
import { FileWatch } from './file-watch.ts';
import { beginLife } from './installation.ts';
import { migrationPort } from './migration-port.ts';
import { OwnerLock } from './owner-lock.ts';
import { toStoreError } from './sqlite-errors.ts';
import { SqliteSystemStore } from './system-store.ts';
import { WriteQueue } from './write-queue.ts';

export interface SqliteStoreOptions {
  /** The database file; its folder is made where it is missing. */
  readonly path: string;
  readonly clock: Clock;
  readonly random?: Random;
  readonly logger?: Logger;
  /** Bring an older schema up to date (default), or refuse it. */
  readonly migrate?: boolean;
  /** The disk failed at a commit, so nobody knows what is durable. By default the process ends with code 70. */
  readonly onFatal?: (error: Error) => void;
  /** The file grows no further than so many pages of 4 KiB; what would is refused as `unavailable`. */
  readonly pageCountMax?: number;
}

/** Another program that holds the file is waited for so long, with the whole process. */
const BUSY_MS = 250;
const CACHE_KIB = 16 * 1024;
/** What a burst left of the write-ahead log is given back at the next checkpoint. */
const WAL_BYTES_KEPT = 32 * 1024 * 1024;
/** Older ones can lose a committed page when the write-ahead log is reset beside a reader. */
const SQLITE_VERSION_MIN = [3, 51, 3] as const;
const EXIT_CODE_DISK = 70;

/**
 * Opens the store in a file, which this process alone owns until `close`. A second process, a newer schema and a file
 * that is no database are refused with `unavailable` and a line that says what to do.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SystemStore> {
  const path = resolvePath(options.path);
  const lock = OwnerLock.acquire(path);
  const opened: Connection[] = [];
  try {
    const writer = new Connection(path, { busyMs: BUSY_MS });
    opened.push(writer);
    configure(writer, path, options.pageCountMax);
    const port = migrationPort(writer, options.clock);
    if (options.migrate === false) await requireMigrated(port);
    else await migrateUp(port);
    const { schemaVersion } = await migrationStatus(port);
    const random = options.random ?? systemRandom;
    const identity = beginLife(writer, lock, { random, now: options.clock.now() });
    const reader = new Connection(path, { readOnly: true, busyMs: BUSY_MS });
    opened.push(reader);
    reader.exec(`pragma cache_size = -${CACHE_KIB}`);
    const file = new FileWatch(path, options.logger ?? silentLogger);
    const queue = new WriteQueue(writer, options.onFatal ?? endProcess, () => file.check());
    const access = new Access({ clock: options.clock, writer, reader, queue, file });
    return new SqliteSystemStore({
      access,
      installation: { ...identity, schemaVersion },
      onClose: () => lock.release(),
    });
  } catch (error) {
    for (const connection of opened) connection.close();
    lock.release();
    throw toStoreError(error);
  }
}

/** One name for one file, whatever links lead to it: the lock stands beside the file under that name. */
function resolvePath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return join(realpathSync(dirname(path)), basename(path));
}

function configure(writer: Connection, path: string, pageCountMax: number | undefined): void {
  requireVersion(writer);
  // Before anything is in it; the files beside it take the mode of this one.
  chmodSync(path, 0o600);
  writer.exec('pragma journal_mode = wal');
  writer.exec('pragma synchronous = full');
  writer.exec('pragma foreign_keys = on');
  writer.exec('pragma trusted_schema = off');
  // Savepoints keep the pages they may have to put back; in a file that would cost more than the writes themselves.
  writer.exec('pragma temp_store = memory');
  writer.exec(`pragma cache_size = -${CACHE_KIB}`);
  writer.exec(`pragma journal_size_limit = ${WAL_BYTES_KEPT}`);
  if (pageCountMax !== undefined) writer.exec(`pragma max_page_count = ${Math.trunc(pageCountMax)}`);
}

function requireVersion(connection: Connection): void {
  const version = connection.one<{ version: string }>('select sqlite_version() as version')?.version ?? '';
  const numbers = version.split('.').map(Number);
  const differing = SQLITE_VERSION_MIN.findIndex((least, index) => numbers[index] !== least);
  if (differing < 0 || (numbers[differing] ?? 0) > (SQLITE_VERSION_MIN[differing] ?? 0)) return;
  throw new CodedError('unavailable', {
    message:
      `This Node has SQLite ${version}, which can lose committed data; ` +
      'Holdfast needs 3.51.3 or newer. Use Node 22.22.3 or newer of its line, or 24.15 or newer.',
  });
}

function endProcess(): void {
  process.exit(EXIT_CODE_DISK);
}
