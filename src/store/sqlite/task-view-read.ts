import { assert } from '../../base/assert.ts';
import type { JournalEntry } from '../../model/journal.ts';
import type { Task } from '../../model/task.ts';
import type { TaskView } from '../../model/task-view.ts';
import { sqliteDialect as d } from '../sql/dialect.ts';
import {
  decodeJournalEntry,
  decodeRun,
  decodeTurn,
  type JournalRow,
  type RunRow,
  type TurnRow,
} from '../sql/row-codec.ts';
import { selectActiveRun } from '../sql/run-reads.ts';
import { selectDecidingTurn, selectOpenSuspensions, selectQueuedTurns } from '../sql/turn-reads.ts';
import type { Connection } from './connection.ts';

const DECIDING_TURN = selectDecidingTurn(d, 0).text;
const ACTIVE_RUN = selectActiveRun(d, 0).text;
const OPEN_SUSPENSIONS = selectOpenSuspensions(d, 0, 0).text;
const QUEUED_TURNS = selectQueuedTurns(d, 0).text;

/** Inside a read of one moment. */
export function readView(db: Connection, task: Task): TaskView {
  const turnRow = db.one<TurnRow>(DECIDING_TURN, task.no);
  assert(turnRow !== undefined, 'a task has a turn that is current or settled');
  const runRow = db.one<RunRow>(ACTIVE_RUN, task.no);
  const open: readonly JournalEntry[] = db
    .all<JournalRow>(OPEN_SUSPENSIONS, task.no, turnRow.turn_no)
    .map(decodeJournalEntry);
  return {
    task,
    turn: decodeTurn(turnRow),
    ...(runRow === undefined ? {} : { run: decodeRun(runRow) }),
    open,
    queued: db.all<TurnRow>(QUEUED_TURNS, task.no).map(decodeTurn),
  };
}
