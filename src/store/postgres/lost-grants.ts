import type { RunId, RunNo, WorkerNo } from '../../model/ids.ts';
import { RUN_STATE_NUMBERS } from '../../model/run.ts';
import type { Grant } from '../contract.ts';
import { newGrant } from '../new-grant.ts';
import { decodeTask, type TaskRow } from '../sql/row-codec.ts';
import { TASK_COLUMNS } from '../sql/task-reads.ts';
import type { Row } from './database.ts';
import type { PostgresContext } from './postgres-context.ts';
import { decodePrefixedTurn, PREFIXED_TURN_COLUMNS } from './turn-rows.ts';

interface Holder {
  readonly workerNo: WorkerNo;
}

/** A transaction that is still on its way through the server ends within its timeouts; a worker claims about once a second. */
const CHECKS_MAX = 30;
const RUNS_MAX = 1_000;

/**
 * Runs that were granted to a worker of this process in a transaction whose answer was lost, or perhaps were not. As long as their worker lives
 * no sweep looks at them, so its next claims do.
 */
export class LostGrants {
  readonly #checksLeft = new Map<RunId, { readonly workerNo: WorkerNo; readonly checks: number }>();

  add(runIds: readonly RunId[], { workerNo }: Holder): void {
    for (const runId of runIds) this.#checksLeft.set(runId, { workerNo, checks: CHECKS_MAX });
    for (const runId of this.#checksLeft.keys()) {
      if (this.#checksLeft.size <= RUNS_MAX) break;
      this.#checksLeft.delete(runId);
    }
  }

  /** The run's grant is known after all. */
  forget(runId: RunId): void {
    this.#checksLeft.delete(runId);
  }

  /** Those that the worker turns out to hold, of so many that are looked at; each is given away once. */
  async take(context: PostgresContext, holder: Holder & { readonly runsMax: number }): Promise<readonly Grant[]> {
    const own = [...this.#checksLeft]
      .filter(([, { workerNo }]) => workerNo === holder.workerNo)
      .slice(0, holder.runsMax);
    if (own.length === 0) return [];
    const grants = await readGrants(
      context,
      own.map(([runId]) => runId),
      holder,
    );
    // Two claims may ask at once; the first to come back takes it.
    const found = grants.filter(({ runId }) => this.#checksLeft.delete(runId));
    for (const [runId, { workerNo, checks }] of own) {
      if (!this.#checksLeft.delete(runId) || checks <= 1) continue;
      this.#checksLeft.set(runId, { workerNo, checks: checks - 1 });
    }
    return found;
  }
}

/** The grants of runs that a worker holds, as they are now: without the events of their start, which others may have read already. */
export async function readGrants(
  context: PostgresContext,
  runIds: readonly RunId[],
  holder: Holder,
): Promise<readonly Grant[]> {
  const { d } = context;
  const text = `select ${TASK_COLUMNS}, r.no as run_no, r.id as run_id, r.attempt as run_attempt, ${PREFIXED_TURN_COLUMNS}
    from ${d.table('run')} r
    join ${d.table('task')} t on t.no = r.task_no
    join ${d.table('session')} s on s.no = t.session_no
    join ${d.table('turn')} u on u.task_no = r.task_no and u.turn_no = r.turn_no
    where r.id = any ($1::text[]) and r.worker_no = $2 and r.state = ${RUN_STATE_NUMBERS.leased} and r.fence = t.fence`;
  const [rows] = await context.database.read([{ text, values: [runIds, holder.workerNo] }]);
  return (rows ?? []).map((row) => grantOf(row, holder));
}

function grantOf(row: Row, { workerNo }: Holder): Grant {
  const run = { id: row.run_id as RunId, attempt: row.run_attempt as number };
  const rows = { runNo: row.run_no as RunNo, turn: decodePrefixedTurn(row), events: [] };
  return newGrant(decodeTask(row as unknown as TaskRow), { run, workerNo }, rows);
}
