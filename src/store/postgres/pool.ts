import pg from 'pg';
import { assert } from '../../base/assert.ts';
import type { Logger } from '../../base/log.ts';
import { unescapeText } from '../sql/text-escape.ts';

export interface PoolOptions {
  /** `postgres://user:password@host:port/database`, with libpq's parameters. */
  readonly url: string;
  readonly connectionsMax: number;
  readonly logger: Logger;
}

/** How long a caller waits for a free connection, or for a new one to open. */
const CONNECT_MS_MAX = 5_000;
/** The server ends a statement after 10 s; an answer that is this late comes from a server or a network that is gone. */
const ANSWER_MS_MAX = 15_000;

/**
 * Connections to one database. Statements of a transaction are sent one after the other without waiting for answers
 * (`pipeline`), so a transaction costs one round trip.
 *
 * Nothing here lives in a database session: no `set`, no prepared names, no temporary tables, no advisory session locks.
 * Therefore a pgbouncer in transaction mode may stand between, with its settings as they are shipped.
 */
export function createPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.connectionsMax,
    application_name: 'holdfast',
    pipeline: true,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
    types: { getTypeParser },
  });
  // A connection that dies under a transaction fails its statements, one that dies idle is replaced: neither may end the process.
  pool.on('connect', (client) => {
    client.on('error', (error) => options.logger.warn('a database connection was lost', { error: error.message }));
  });
  pool.on('error', () => {});
  return pool;
}

const INT8_OID = 20;
const NUMERIC_OID = 1700;
const BYTEA_OID = 17;
const TEXT_OIDS = new Set([25, 1043]);

/** Row numbers and instants are whole numbers below 2^53, so int8 is read as a number. Only for these connections. */
const getTypeParser = ((oid: number, format?: 'text' | 'binary') => {
  if (format !== 'binary') {
    // A sum of int8 is numeric.
    if (oid === INT8_OID || oid === NUMERIC_OID) return parseWhole;
    if (TEXT_OIDS.has(oid)) return unescapeText;
    if (oid === BYTEA_OID) return parseBytes;
  }
  return pg.types.getTypeParser(oid, format);
}) as typeof pg.types.getTypeParser;

function parseWhole(text: string): number {
  const value = Number(text);
  assert(Number.isSafeInteger(value), 'a number of ours fits into a double');
  return value;
}

/** Bytes with a buffer of their own: a slice of Node's pool would keep strangers' bytes in reach. Sent as `\x` and hex. */
function parseBytes(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text.slice(2), 'hex'));
}
