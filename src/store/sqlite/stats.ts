import { setImmediate as nextTurn } from 'node:timers/promises';
import { TASK_STATE_NUMBERS, type TaskState } from '../../model/task.ts';
import type { StoreStats } from '../contract.ts';
import { sqliteDialect as d } from '../sql/dialect.ts';
import { runStateOf, taskStateOf } from '../sql/row-codec.ts';
import { countActiveRuns } from '../sql/run-reads.ts';
import { countSessions } from '../sql/session-reads.ts';
import type { Access } from './access.ts';

/** Rows that are counted without a pause: a scrape of a million tasks must not hold up a request for as long as it takes. */
const ROWS_PER_PIECE = 10_000;

const SELECT_LAST = 'select coalesce(max(no), 0) as no from task';

/** Seqs have no gaps, so heads add up to the events. */
const COUNT_PIECE = `
  select state, count(*) as items, sum(head_seq) as events
  from task
  where no > ?1 and no <= ?2
  group by state`;

/** Tasks are counted piece by piece, so what changes meanwhile may be counted as it was or as it is. */
export async function readStats(access: Access): Promise<StoreStats> {
  const states = Object.keys(TASK_STATE_NUMBERS).map((state) => [state, 0]);
  const tasks = Object.fromEntries(states) as Record<TaskState, number>;
  let events = 0;
  const last = await access.read((db) => db.one<{ no: number }>(SELECT_LAST)?.no ?? 0);
  for (let after = 0; after < last; after += ROWS_PER_PIECE) {
    if (after > 0) await nextTurn();
    const rows = await access.read((db) =>
      db.all<{ state: number; items: number; events: number }>(COUNT_PIECE, after, after + ROWS_PER_PIECE),
    );
    for (const row of rows) {
      tasks[taskStateOf(row.state)] += row.items;
      events += row.events;
    }
  }
  return { tasks, events, ...(await readActive(access)) };
}

function readActive(access: Access): Promise<Pick<StoreStats, 'runs' | 'sessions'>> {
  return access.read((db) => {
    const runs = { queued: 0, leased: 0, waiting: 0, held: 0, settled: 0 };
    for (const row of db.readAll<{ state: number; items: number }>(countActiveRuns(d))) {
      runs[runStateOf(row.state)] = row.items;
    }
    const { queued, leased, waiting } = runs;
    const sessions = db.readOne<{ items: number }>(countSessions(d))?.items ?? 0;
    return { runs: { queued, leased, waiting }, sessions };
  });
}
