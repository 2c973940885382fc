import { JOURNAL_KIND_NUMBERS, JOURNAL_STATE_NUMBERS } from '../../model/journal.ts';
import { TURN_STATE_NUMBERS } from '../../model/turn.ts';
import type { Dialect, Statement } from './dialect.ts';

const { queued: QUEUED, current: CURRENT, settled: SETTLED } = TURN_STATE_NUMBERS;

const TURN_COLUMNS = 'turn_no, state, message_id, message_seq, skill, principal, agent_version, attempts, crashes';
const JOURNAL_COLUMNS = 'step_key, kind, state, due_at, question, result';

/** Oldest first. */
export function selectTurns(d: Dialect, taskNo: number): Statement {
  const text = `select ${TURN_COLUMNS}
    from ${d.table('turn')}
    where task_no = ${d.param(1)}
    order by turn_no`;
  return { text, values: [taskNo] };
}

/** The current turn, or the last settled one. */
export function selectDecidingTurn(d: Dialect, taskNo: number): Statement {
  const text = `select ${TURN_COLUMNS}
    from ${d.table('turn')}
    where task_no = ${d.param(1)} and state in (${CURRENT}, ${SETTLED})
    order by state, turn_no desc
    limit 1`;
  return { text, values: [taskNo] };
}

/** Oldest first. */
export function selectQueuedTurns(d: Dialect, taskNo: number): Statement {
  const text = `select ${TURN_COLUMNS}
    from ${d.table('turn')}
    where task_no = ${d.param(1)} and state = ${QUEUED}
    order by turn_no`;
  return { text, values: [taskNo] };
}

/** The column `input`. */
export function selectTurnInput(d: Dialect, taskNo: number, turnNo: number): Statement {
  const text = `select input
    from ${d.table('turn')}
    where task_no = ${d.param(1)} and turn_no = ${d.param(2)}`;
  return { text, values: [taskNo, turnNo] };
}

/** In the order in which they were first written. */
export function selectJournal(d: Dialect, taskNo: number, turnNo: number): Statement {
  const text = `select ${JOURNAL_COLUMNS}
    from ${d.table('step')}
    where task_no = ${d.param(1)} and turn_no = ${d.param(2)}
    order by ordinal, step_key`;
  return { text, values: [taskNo, turnNo] };
}

/** Suspensions of a turn that are still open; a step that has begun is none. */
export function selectOpenSuspensions(d: Dialect, taskNo: number, turnNo: number): Statement {
  const text = `select ${JOURNAL_COLUMNS}
    from ${d.table('step')}
    where task_no = ${d.param(1)} and turn_no = ${d.param(2)}
      and state = ${JOURNAL_STATE_NUMBERS.open} and kind <> ${JOURNAL_KIND_NUMBERS.step}
    order by ordinal, step_key`;
  return { text, values: [taskNo, turnNo] };
}
