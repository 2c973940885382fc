import type { Clock } from '../../base/clock.ts';
import { instant } from '../../base/clock.ts';
import { type Logger, silentLogger } from '../../base/log.ts';
import { type Random, systemRandom } from '../../base/random.ts';
import type { Fence, TaskNo } from '../../model/ids.ts';
import { RUN_STATE_NUMBERS } from '../../model/run.ts';
import { TASK_STATE_NUMBERS, type TaskState } from '../../model/task.ts';
import type { StoreStats, SystemStore } from '../contract.ts';
import { postgresDialect } from '../sql/dialect.ts';
import { migrateUp, requireMigrated } from '../sql/migrate.ts';
import { decodeTask, type TaskRow } from '../sql/row-codec.ts';
import {
  countActiveRuns,
  selectDueDeadlines,
  selectDueTimers,
  selectNextRunnableAt,
  selectRunless,
  selectRunsOfTheDead,
  selectRunsOfWorker,
} from '../sql/run-reads.ts';
import { countSessions, selectSessionState } from '../sql/session-reads.ts';
import { countEvents, countTasksByState, selectNewestTasks } from '../sql/task-reads.ts';
import { AppendGroups } from './append-groups.ts';
import { openBlobs } from './blobs.ts';
import { Claims } from './claims.ts';
import { commandTask, settleRun } from './commands.ts';
import { readTurnMaterial } from './content-reads.ts';
import { Database, type Row } from './database.ts';
import { readInstallation } from './installation.ts';
import { readEvents, readHeads } from './log-reads.ts';
import { LostGrants } from './lost-grants.ts';
import { migrationPort } from './migration-port.ts';
import { createPool } from './pool.ts';
import { nowOf, type PostgresContext, readNow } from './postgres-context.ts';
import { openScopedStore } from './scoped-store.ts';
import { readView } from './view-reads.ts';
import { openWorkers } from './workers.ts';

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`; a pgbouncer in transaction mode will do. */
  readonly url: string;
  /** Where the tables are; made by the migration. Default `holdfast`. */
  readonly schema?: string;
  /** In place of the database's clock; for tests. */
  readonly clock?: Clock;
  readonly random?: Random;
  readonly logger?: Logger;
  /** Connections at most. One is enough to work. Default 10. */
  readonly poolMax?: number;
  /** False refuses a schema that is older than this code, in place of migrating it. */
  readonly migrate?: boolean;
}

const POOL_MAX_DEFAULT = 10;

/**
 * A store on PostgreSQL 15 or later, for any number of processes on one database. Throws `unavailable` when the database cannot be
 * reached, when it was made by a newer version, and, without `migrate`, when it was made by an older one.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<SystemStore> {
  const schema = options.schema ?? 'holdfast';
  const d = postgresDialect(schema);
  const { url, logger = silentLogger, poolMax = POOL_MAX_DEFAULT } = options;
  const database = new Database(createPool({ url, connectionsMax: poolMax, logger }));
  const context: PostgresContext = {
    d,
    database,
    lostGrants: new LostGrants(),
    random: options.random ?? systemRandom,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  };
  try {
    const port = migrationPort(context, schema);
    if (options.migrate === false) await requireMigrated(port);
    else await migrateUp(port);
    await readInstallation(context);
  } catch (error) {
    await database.close();
    throw error;
  }
  return systemStore(context);
}

function systemStore(context: PostgresContext): SystemStore {
  const { database } = context;
  const claims = new Claims(context);
  const appends = new AppendGroups(context);
  return {
    name: 'postgres',
    ...openWorkers(context),
    ...openBlobs(context),
    ...sweepReads(context),
    scoped: (agent, scope) => openScopedStore(context, { agent, scope }),
    installation: () => readInstallation(context),
    now: () => readNow(context),
    claim: (request) => claims.claim(request),
    append: (grant, batch) => appends.append(grant, batch),
    settle: (grant, request) => settleRun(context, grant, request),
    command: (taskNo, headSeq, write) => commandTask(context, { taskNo }, { headSeq, write }),
    readView: (taskNo) => readView(context, { taskNo }),
    readTurn: (grant) => readTurnMaterial(context, grant),
    readEvents: (taskNo, range) => readEvents(context, taskNo, range),
    readHeads: (tasks) => readHeads(context, tasks),
    listTasks: async (query) => {
      const [rows] = await database.read([selectNewestTasks(context.d, query)]);
      return (rows ?? []).map((row) => decodeTask(row as unknown as TaskRow));
    },
    stats: () => readStats(context),
    close: () => database.close(),
  };
}

type SweepReads = Required<
  Pick<SystemStore, 'nextRunnableAt' | 'dueDeadlines' | 'dueTimers' | 'orphans' | 'leasedTo' | 'readSessionState'>
>;

function sweepReads(context: PostgresContext): SweepReads {
  const { d, database } = context;
  return {
    async nextRunnableAt(agents) {
      const [rows] = await database.read([selectNextRunnableAt(d, agents)]);
      const at = rows?.[0]?.runnable_at as number | null;
      return at === null ? undefined : instant(at);
    },
    async dueDeadlines(itemsMax) {
      return taskNos(await database.read([selectDueDeadlines(d, nowOf(context), itemsMax)]));
    },
    async dueTimers(itemsMax) {
      return taskNos(await database.read([selectDueTimers(d, nowOf(context), itemsMax)]));
    },
    async orphans(itemsMax) {
      const found = await database.read([selectRunsOfTheDead(d, itemsMax), selectRunless(d, itemsMax)]);
      return taskNos(found).slice(0, itemsMax);
    },
    async leasedTo(workerNo) {
      const [rows] = await database.read([selectRunsOfWorker(d, workerNo)]);
      return (rows ?? []).map((row) => ({ taskNo: row.task_no as TaskNo, fence: row.fence as Fence }));
    },
    async readSessionState(sessionNo, key) {
      const [rows] = await database.read([selectSessionState(d, sessionNo, key)]);
      return rows?.[0]?.value as string | undefined;
    },
  };
}

/** Each task once, in the order in which it was found. */
function taskNos(answers: readonly (readonly Row[])[]): readonly TaskNo[] {
  return [...new Set(answers.flat().map((row) => row.task_no as TaskNo))];
}

async function readStats({ d, database }: PostgresContext): Promise<StoreStats> {
  const [tasks, runs, sessions, events] = await database.read([
    countTasksByState(d),
    countActiveRuns(d),
    countSessions(d),
    countEvents(d),
  ]);
  const items = (rows: readonly Row[] | undefined, state?: number): number =>
    (rows?.find((row) => state === undefined || row.state === state)?.items as number | undefined) ?? 0;
  const states = Object.entries(TASK_STATE_NUMBERS).map(([state, number]) => [state, items(tasks, number)]);
  const { queued, leased, waiting } = RUN_STATE_NUMBERS;
  return {
    tasks: Object.fromEntries(states) as Record<TaskState, number>,
    runs: { queued: items(runs, queued), leased: items(runs, leased), waiting: items(runs, waiting) },
    sessions: items(sessions),
    events: items(events),
  };
}
