import { assert, unreachable } from '../../base/assert.ts';
import type { Seq, TurnNo } from '../../model/ids.ts';
import type { NewTurn, TurnWrite } from '../../model/task-write.ts';
import type { Turn, TurnState } from '../../model/turn.ts';
import { frozenCopy } from './frozen.ts';
import type { TurnRecord } from './records.ts';

/** The turns of a task after one write; `base` is the head before the write's events. */
export function writeTurn(turns: readonly TurnRecord[], write: TurnWrite, base: number): readonly TurnRecord[] {
  switch (write.kind) {
    case 'begin':
      return beginTurn(turns, { turn: write.turn, state: 'current', base });
    case 'enqueue':
      return beginTurn(turns, { turn: write.turn, state: 'queued', base });
    case 'activate':
      return moveTurn(turns, { turnNo: write.turnNo, from: 'queued', to: 'current' });
    case 'settle':
      return moveTurn(turns, { turnNo: write.turnNo, from: 'current', to: 'settled' });
    case 'drop':
      return moveTurn(turns, { turnNo: write.turnNo, from: 'queued', to: 'dropped' });
    case 'charge-crash':
      return replaceTurn(turns, write.turnNo, (record) => ({
        ...record,
        turn: Object.freeze({ ...record.turn, crashes: record.turn.crashes + 1 }),
      }));
    default:
      return unreachable(write);
  }
}

export function beginTurn(
  turns: readonly TurnRecord[],
  begin: { readonly turn: NewTurn; readonly state: TurnState; readonly base: number },
): readonly TurnRecord[] {
  const { turnNo, messageId, messageOrdinal, skill, principal, agentVersion, input } = begin.turn;
  assert(!turns.some(({ turn }) => turn.turnNo === turnNo), 'a task has each turn once');
  const turn: Turn = frozenCopy({
    turnNo,
    state: begin.state,
    messageId,
    messageSeq: (begin.base + messageOrdinal) as Seq,
    skill,
    principal,
    agentVersion,
    attempts: 0,
    crashes: 0,
  });
  const record = input === undefined ? { turn } : { turn, input: Uint8Array.from(input) };
  return [...turns, record].sort((a, b) => a.turn.turnNo - b.turn.turnNo);
}

/** A turn that is over keeps no encrypted message. */
function moveTurn(
  turns: readonly TurnRecord[],
  move: { readonly turnNo: TurnNo; readonly from: TurnState; readonly to: TurnState },
): readonly TurnRecord[] {
  return replaceTurn(turns, move.turnNo, ({ turn, input }) => {
    assert(turn.state === move.from, `only a ${move.from} turn becomes ${move.to}`);
    const moved = Object.freeze({ ...turn, state: move.to });
    return input === undefined || move.to !== 'current' ? { turn: moved } : { turn: moved, input };
  });
}

function replaceTurn(
  turns: readonly TurnRecord[],
  turnNo: TurnNo,
  change: (record: TurnRecord) => TurnRecord,
): readonly TurnRecord[] {
  const index = turns.findIndex(({ turn }) => turn.turnNo === turnNo);
  const record = turns[index];
  assert(record !== undefined, 'a write names turns of its task');
  return turns.with(index, change(record));
}
