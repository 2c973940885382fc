import { unreachable } from '../../base/assert.ts';
import type { TurnNo } from '../../model/ids.ts';
import type { NewTurn, TurnWrite } from '../../model/task-write.ts';
import { TURN_STATE_NUMBERS, type Turn } from '../../model/turn.ts';
import type { Dialect } from '../sql/dialect.ts';
import { decodeTurn, type TurnRow } from '../sql/row-codec.ts';
import type { Row, Statement } from './database.ts';
import { expecting, movedTask, type TaskPlaceKey } from './moved-task.ts';
import { Parameters } from './parameters.ts';

const { queued: QUEUED, current: CURRENT, settled: SETTLED, dropped: DROPPED } = TURN_STATE_NUMBERS;

/** What a change of a task does to one of its turns. `eventCount` is how many events the change has appended. */
export function writeTurn(d: Dialect, key: TaskPlaceKey, write: TurnWrite, eventCount: number): Statement {
  switch (write.kind) {
    case 'begin':
      return insertTurn(d, key, write.turn, { state: CURRENT, eventCount });
    case 'enqueue':
      return insertTurn(d, key, write.turn, { state: QUEUED, eventCount });
    case 'activate':
      return updateTurn(d, key, write.turnNo, { set: `state = ${CURRENT}`, where: `u.state = ${QUEUED}` });
    case 'settle':
      return updateTurn(d, key, write.turnNo, {
        set: `state = ${SETTLED}, input = null`,
        where: `u.state <> ${DROPPED}`,
      });
    case 'drop':
      return updateTurn(d, key, write.turnNo, {
        set: `state = ${DROPPED}, input = null`,
        where: `u.state <> ${SETTLED}`,
      });
    case 'charge-crash':
      return updateTurn(d, key, write.turnNo, { set: 'crashes = u.crashes + 1', where: 'true' });
    default:
      return unreachable(write);
  }
}

/** Fails the transaction that ended a task with a turn still queued: nothing would ever take it up, and its message would be lost. */
export function refuseQueuedTurns(d: Dialect, key: TaskPlaceKey): Statement {
  const p = new Parameters();
  const queued = `select 1 from ${d.table('turn')} u where u.task_no = t.no and u.state = ${QUEUED}`;
  return { text: `select 1 / (not exists (${queued}))::int as ended from ${movedTask(d, p, key)}`, values: p.values };
}

/** A grant counts as an attempt at the turn; returns the turn's columns as they are then. */
export function countAttempt(d: Dialect, key: TaskPlaceKey, turnNo: TurnNo): Statement {
  const p = new Parameters();
  const text = `update ${d.table('turn')} u
    set attempts = u.attempts + 1
    from ${movedTask(d, p, key)} and u.task_no = t.no and u.turn_no = ${p.add(turnNo)}
    returning ${TURN_COLUMNS}`;
  return { text, values: p.values };
}

/** Columns of a `TurnRow`. */
const TURN_COLUMN_NAMES = [
  'turn_no',
  'state',
  'message_id',
  'message_seq',
  'skill',
  'principal',
  'agent_version',
  'attempts',
  'crashes',
] as const satisfies readonly (keyof TurnRow)[];

/** The same, from `turn u`. */
export const TURN_COLUMNS = TURN_COLUMN_NAMES.map((name) => `u.${name}`).join(', ');

/** The same beside other columns, with `turn_` before each. */
export const PREFIXED_TURN_COLUMNS = TURN_COLUMN_NAMES.map((name) => `u.${name} as turn_${name}`).join(', ');

export function decodePrefixedTurn(row: Row): Turn {
  return decodeTurn(
    Object.fromEntries(TURN_COLUMN_NAMES.map((name) => [name, row[`turn_${name}`]])) as unknown as TurnRow,
  );
}

function insertTurn(
  d: Dialect,
  key: TaskPlaceKey,
  turn: NewTurn,
  context: { readonly state: number; readonly eventCount: number },
): Statement {
  const p = new Parameters();
  const text = `insert into ${d.table('turn')}
      (task_no, turn_no, message_id, message_seq, state, skill, principal, agent_version, input)
    select t.no, ${p.add(turn.turnNo)}, ${p.add(turn.messageId)}, t.head_seq - ${p.add(context.eventCount - turn.messageOrdinal)},
      ${context.state}, ${p.add(turn.skill)}, ${p.add(JSON.stringify(turn.principal))}, ${p.add(turn.agentVersion)},
      ${p.add(turn.input ?? null)}
    from ${movedTask(d, p, key)}`;
  return { text, values: p.values };
}

function updateTurn(
  d: Dialect,
  key: TaskPlaceKey,
  turnNo: TurnNo,
  change: { readonly set: string; readonly where: string },
): Statement {
  const p = new Parameters();
  const text = `update ${d.table('turn')} u
      set ${change.set}
      from ${movedTask(d, p, key)} and u.task_no = t.no and u.turn_no = ${p.add(turnNo)} and ${change.where}`;
  return expecting(d, p, key, { count: 1, text });
}
