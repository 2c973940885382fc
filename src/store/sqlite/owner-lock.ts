import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { CodedError } from '../../base/errors.ts';
import { Connection } from './connection.ts';
import { isBusy } from './sqlite-errors.ts';

/**
 * The right of one process to a database file: a second SQLite file, locked from start to end. The system takes the lock
 * away when the process dies, however it dies, so none is ever left behind.
 *
 * Nothing here opens the lock file but SQLite: on POSIX, closing any descriptor of a file drops every lock the process has on it.
 */
export class OwnerLock {
  readonly #connection: Connection;
  readonly #pidPath: string;

  private constructor(connection: Connection, pidPath: string) {
    this.#connection = connection;
    this.#pidPath = pidPath;
  }

  /** Throws `unavailable` that names the process in whose hands the file is. */
  static acquire(databasePath: string): OwnerLock {
    const pidPath = `${databasePath}-pid`;
    const connection = new Connection(`${databasePath}-owner`, { busyMs: 0 });
    try {
      // Without this mode the lock would end with each transaction.
      connection.exec('pragma locking_mode = exclusive');
      connection.exec('begin exclusive');
      connection.exec('create table if not exists life (one integer primary key check (one = 1), life text not null)');
      connection.exec('commit');
      connection.exec('begin exclusive');
    } catch (error) {
      connection.close();
      if (isBusy(error)) throw inUse(databasePath, pidPath);
      throw error;
    }
    try {
      writeFileSync(pidPath, `${process.pid}\n`, { mode: 0o600 });
    } catch (error) {
      connection.close();
      throw error;
    }
    return new OwnerLock(connection, pidPath);
  }

  /** What was written last by `writeLife`; undefined for a lock file that is new. */
  readLife(): string | undefined {
    return this.#connection.one<{ life: string }>('select life from life')?.life;
  }

  writeLife(life: string): void {
    this.#connection.run('insert into life (one, life) values (1, ?1) on conflict (one) do update set life = ?1', life);
    this.#connection.exec('commit');
    this.#connection.exec('begin exclusive');
  }

  release(): void {
    // While the lock is held nobody else has written the file with the number.
    rmSync(this.#pidPath, { force: true });
    this.#connection.close();
  }
}

function inUse(databasePath: string, pidPath: string): CodedError {
  const pid = readPid(pidPath);
  const owner = pid === undefined ? 'another process' : `process ${pid}`;
  return new CodedError('unavailable', {
    message: `${databasePath} is in use by ${owner}. SQLite allows one process; use another folder, or PostgreSQL for several.`,
  });
}

function readPid(pidPath: string): string | undefined {
  try {
    return /^\d+$/m.exec(readFileSync(pidPath, 'utf8'))?.[0];
  } catch {
    // The number is a courtesy; without it the message still says what to do.
    return undefined;
  }
}
