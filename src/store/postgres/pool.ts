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
 * A transaction waits 2 s for a row that another holds, a statement may take 10 s, and a process that stops in the
 * middle of a transaction loses it, with its locks, after 5 s.
 */
const TIMEOUTS = { lock_timeout: 2_000, statement_timeout: 10_000, idle_in_transaction_session_timeout: 5_000 };

/**
 * Every statement of ours finds its rows by an index. A plan that is made while the tables are small would read them whole, and
 * statistics come a minute after the rows.
 */
const PLANNING = { enable_seqscan: 'off', jit: 'off' };

/** Our settings as statements, for one transaction (`set local`) or for a connection (`set`). */
export function applySettings(set: 'set' | 'set local'): string {
  return Object.entries({ ...TIMEOUTS, ...PLANNING })
    .map(([name, value]) => `${set} ${name} = ${value}`)
    .join('; ');
}

/**
 * Connections to one database. Statements of a transaction are sent one after the other without waiting for answers
 * (`pipeline`), so a transaction costs one round trip.
 *
 * Behind a pooler in transaction mode, such as pgbouncer, every transaction may meet another server process. There, nothing lives
 * longer than a transaction: timeouts are set in each, and no statement is prepared under a name. A connection to the server
 * itself is ours alone, so both are kept on it, which saves half the time of a short transaction.
 */
export function createPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.connectionsMax,
    fallback_application_name: 'holdfast',
    pipeline: true,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
    types: { getTypeParser },
    onConnect: prepareConnection,
  });
  // A connection that dies under a transaction fails its statements, one that dies idle is replaced: neither may end the process.
  pool.on('connect', (client) => {
    client.on('error', (error) => options.logger.warn('a database connection was lost', { error: error.message }));
  });
  pool.on('error', () => {});
  return pool;
}

const directConnections = new WeakSet<pg.ClientBase>();

/** Whether the connection is to the server itself: no pooler stands between. */
export function isDirect(client: pg.ClientBase): boolean {
  return directConnections.has(client);
}

/** The server tells its process number at the start and again when it is asked. A pooler tells one of its own making at the start. */
async function prepareConnection(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const { processID } = client as unknown as { readonly processID: number | null };
  if (rows[0]?.pid !== processID) return;
  await client.query(`${applySettings('set')}; set default_transaction_isolation = 'read committed'`);
  directConnections.add(client);
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
