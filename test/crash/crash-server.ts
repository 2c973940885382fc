/*
 * A real Holdfast server whose store dies at the n-th write (see deadly-store.ts).
 * CRASH_STORE = sqlite:FILE | postgres://… · CRASH_SCHEMA · CRASH_AT (0 = never) · CRASH_MOMENT · CRASH_WRITES = file for the names of the writes
 * CRASH_LEDGER = file for the effects of steps, and for which of them are on record
 */
import { appendFileSync } from 'node:fs';
import { systemClock } from '../../src/base/clock.ts';
import { createHoldfast } from '../../src/server/holdfast.ts';
import type { SystemStore } from '../../src/store/contract.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import agent from './crash-agent.ts';
import { deadlyStore, type Moment } from './deadly-store.ts';

const where = process.env.CRASH_STORE ?? '';
const writes = process.env.CRASH_WRITES;
const ledger = process.env.CRASH_LEDGER;

function open(): Promise<SystemStore> {
  if (where.startsWith('sqlite:')) return openSqliteStore({ path: where.slice('sqlite:'.length), clock: systemClock });
  return openPostgresStore({ url: where, schema: process.env.CRASH_SCHEMA ?? 'public' });
}

const store = deadlyStore(await open(), {
  at: Number(process.env.CRASH_AT ?? 0),
  moment: (process.env.CRASH_MOMENT ?? 'before') as Moment,
  ...(writes === undefined ? {} : { onWrite: (name: string) => appendFileSync(writes, `${name}\n`) }),
  ...(ledger === undefined
    ? {}
    : { onRecorded: (key: string) => appendFileSync(ledger, `recorded ${key.replace(/^step:/, '')}\n`) }),
});
const holdfast = await createHoldfast({
  agents: [agent],
  store,
  host: '127.0.0.1',
  port: 0,
  secretsKey: Buffer.alloc(32, 7).toString('base64'),
  config: { runs: { leaseSecs: 1, sweepSecs: 0.2, cancelGraceSecs: 0.5 }, a2a: { subscribePollSecs: 0.2 } },
});
const { url } = await holdfast.listen();
process.stdout.write(`holdfast listening on ${url}\n`);
