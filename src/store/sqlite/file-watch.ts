import { type BigIntStats, statSync } from 'node:fs';
import { CodedError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';

/**
 * Whether the database is still the file of its name. One that was deleted, or replaced by a copy, stays open here and takes
 * every write, and all of them are gone when the last descriptor is closed. To look costs some microseconds, so it is done before
 * each commit; at rest the sweep's own writes ask.
 */
export class FileWatch {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #opened: BigIntStats;
  #fault: CodedError | undefined;

  constructor(path: string, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
    this.#opened = statSync(path, { bigint: true });
  }

  /** Why nothing may be written; undefined while the file is there. One that was put back is taken again. */
  check(): CodedError | undefined {
    const found = statsAt(this.#path);
    const isThere = found?.ino === this.#opened.ino && found.dev === this.#opened.dev;
    if (isThere) {
      this.#fault = undefined;
      return undefined;
    }
    if (this.#fault === undefined) {
      const what = found === undefined ? 'was deleted or moved' : 'was replaced by another';
      this.#logger.error(`database file ${what} under the server: nothing is written any more`, {
        path: this.#path,
        help: 'put the file back, or restart the server on the one that is to be used',
      });
      this.#fault = new CodedError('unavailable', { cause: new Error(`${this.#path} ${what}`) });
    }
    return this.#fault;
  }
}

/** Undefined for whatever cannot be looked at, also where the folder may not be read any more: who asks is about to answer a write. */
function statsAt(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}
