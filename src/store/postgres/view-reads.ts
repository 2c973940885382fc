import { assert } from '../../base/assert.ts';
import { JOURNAL_KIND_NUMBERS, JOURNAL_STATE_NUMBERS } from '../../model/journal.ts';
import { RUN_STATE_NUMBERS } from '../../model/run.ts';
import type { TaskView } from '../../model/task-view.ts';
import { TURN_STATE_NUMBERS } from '../../model/turn.ts';
import type { Dialect } from '../sql/dialect.ts';
import {
  decodeJournalEntry,
  decodeRun,
  decodeTask,
  decodeTurn,
  type JournalRow,
  type RunRow,
  type TaskRow,
  type TurnRow,
} from '../sql/row-codec.ts';
import { TASK_COLUMNS } from '../sql/task-reads.ts';
import type { Statement } from './database.ts';
import { isTask, type TaskPlaceKey } from './moved-task.ts';
import { Parameters } from './parameters.ts';
import type { PostgresContext } from './postgres-context.ts';
import { TURN_COLUMNS } from './turn-rows.ts';

const { queued: QUEUED, current: CURRENT, settled: SETTLED } = TURN_STATE_NUMBERS;

/** All that a command is decided on, in one round trip: each statement finds the task by its key, none waits for another. */
export async function readView(context: PostgresContext, key: TaskPlaceKey): Promise<TaskView | undefined> {
  const { d } = context;
  const [tasks, turns, runs, open] = await context.database.read([
    selectTask(d, key),
    selectTurns(d, key),
    selectActiveRun(d, key),
    selectOpen(d, key),
  ]);
  const row = tasks?.[0];
  if (row === undefined) return undefined;
  const decoded = (turns ?? []).map((turn) => decodeTurn(turn as unknown as TurnRow));
  const turn = decoded.find(({ state }) => state !== 'queued');
  assert(turn !== undefined, 'a task has had a turn');
  const run = runs?.[0];
  return {
    task: decodeTask(row as unknown as TaskRow),
    turn,
    ...(run === undefined ? {} : { run: decodeRun(run as unknown as RunRow) }),
    open: (open ?? []).map((entry) => decodeJournalEntry(entry as unknown as JournalRow)),
    queued: decoded.filter(({ state }) => state === 'queued'),
  };
}

export function selectTask(d: Dialect, key: TaskPlaceKey): Statement {
  const p = new Parameters();
  const text = `select ${TASK_COLUMNS}
    from ${d.table('task')} t
    join ${d.table('session')} s on s.no = t.session_no
    where ${isTask(p, key)}`;
  return { text, values: p.values };
}

/** The deciding turn, then the queued ones, oldest first. */
function selectTurns(d: Dialect, key: TaskPlaceKey): Statement {
  const p = new Parameters();
  const text = `select ${TURN_COLUMNS}
    from ${d.table('task')} t
    cross join lateral (
      (${decidingTurn(d, '*')})
      union all
      select q.* from ${d.table('turn')} q where q.task_no = t.no and q.state = ${QUEUED}) u
    where ${isTask(p, key)}
    order by u.turn_no`;
  return { text, values: p.values };
}

/** The current turn of `task t`, or the last settled one: a queued turn may come behind one that was begun after it. */
function decidingTurn(d: Dialect, columns: '*' | 'turn_no'): string {
  return `select v.${columns}
      from ${d.table('turn')} v
      where v.task_no = t.no and v.state in (${CURRENT}, ${SETTLED})
      order by v.state, v.turn_no desc
      limit 1`;
}

function selectActiveRun(d: Dialect, key: TaskPlaceKey): Statement {
  const p = new Parameters();
  const text = `select r.no, r.id, r.turn_no, r.attempt, r.state, r.runnable_at, r.wake_key, r.worker_no, r.fence,
      r.outcome, r.reason, r.started_at, r.settled_at
    from ${d.table('task')} t
    join ${d.table('run')} r on r.task_no = t.no
    where ${isTask(p, key)} and r.state <> ${RUN_STATE_NUMBERS.settled}`;
  return { text, values: p.values };
}

/** Suspensions of the deciding turn that are still open, oldest first; a step that has begun is none. */
function selectOpen(d: Dialect, key: TaskPlaceKey): Statement {
  const p = new Parameters();
  const text = `select j.step_key, j.kind, j.state, j.due_at, j.question, j.result
    from ${d.table('task')} t
    join ${d.table('step')} j on j.task_no = t.no
    where ${isTask(p, key)} and j.turn_no = (${decidingTurn(d, 'turn_no')})
      and j.state = ${JOURNAL_STATE_NUMBERS.open} and j.kind <> ${JOURNAL_KIND_NUMBERS.step}
    order by j.ordinal, j.step_key`;
  return { text, values: p.values };
}
