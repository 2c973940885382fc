import type { TaskNo } from '../../model/ids.ts';
import { RUN_STATE_NUMBERS } from '../../model/run.ts';
import { sqliteDialect as d } from '../sql/dialect.ts';
import { selectRunsOfTheDead } from '../sql/run-reads.ts';
import type { Connection } from './connection.ts';

/** Live tasks that one call looks at. A sweep must not hold the event loop for as long as it takes to look at all of 100,000. */
const TASKS_PER_CALL_MAX = 2_000;

const SELECT_LIVE = `
  select t.no, exists (select 1 from run r where r.task_no = t.no and r.state <> ${RUN_STATE_NUMBERS.settled}) as has_run
  from task t
  where t.state in (1, 2) and t.no > ?1
  order by t.no
  limit ${TASKS_PER_CALL_MAX}`;

/** Finds tasks that nobody works on. It goes through the live tasks in pieces, one a call, and then begins again. */
export class OrphanSearch {
  #after = 0;

  /** Inside a read of one moment. */
  find(db: Connection, itemsMax: number): readonly TaskNo[] {
    const dead = db.readAll<{ task_no: number }>(selectRunsOfTheDead(d, itemsMax));
    const found = dead.map((row) => row.task_no as TaskNo);
    const live = db.allRaw<{ no: number; has_run: number }>(SELECT_LIVE, this.#after);
    for (const row of live) {
      if (found.length === itemsMax) return found;
      if (row.has_run === 0) found.push(row.no as TaskNo);
    }
    this.#after = live.length < TASKS_PER_CALL_MAX ? 0 : (live.at(-1)?.no ?? 0);
    return found;
  }
}
