import { assert, unreachable } from '../../base/assert.ts';
import { type Instant, instant } from '../../base/clock.ts';
import type { BlobNo, MessageId, RunNo, SessionNo, TaskNo, TurnNo } from '../../model/ids.ts';
import { JOURNAL_KIND_NUMBERS, JOURNAL_STATE_NUMBERS } from '../../model/journal.ts';
import { RUN_OUTCOME_NUMBERS, RUN_STATE_NUMBERS } from '../../model/run.ts';
import type { Task } from '../../model/task.ts';
import type { Fingerprint, JournalWrite, NewRun, NewTurn, RunWrite, TurnWrite } from '../../model/task-write.ts';
import { TURN_STATE_NUMBERS } from '../../model/turn.ts';
import { takeUpBlobs } from '../sql/blob-writes.ts';
import { sqliteDialect } from '../sql/dialect.ts';
import { IDEMPOTENCY_STATE_NUMBERS } from '../sql/row-codec.ts';
import { deleteSessionState, putSessionState } from '../sql/session-reads.ts';
import type { Place } from '../sql/task-reads.ts';
import type { Connection } from './connection.ts';

const { queued: RUN_QUEUED, leased: RUN_LEASED, waiting: RUN_WAITING, settled: RUN_SETTLED } = RUN_STATE_NUMBERS;
const { queued: TURN_QUEUED, current: TURN_CURRENT, settled: TURN_SETTLED, dropped: TURN_DROPPED } = TURN_STATE_NUMBERS;

/** When a write happens: by the store's clock for what begins from now on, and as the log tells it. */
export interface Moment {
  readonly now: Instant;
  readonly at: Instant;
}

const QUEUE_RUN = `
  insert into run (id, task_no, turn_no, attempt, agent, scope, state, runnable_at)
  values (?1, ?2, ?3, ?4, ?5, ?6, ${RUN_QUEUED}, ?7)`;

const PARK_RUN = `
  update run
  set state = ${RUN_WAITING}, runnable_at = ?3, wake_key = ?4, worker_no = null, fence = null
  where no = ?1 and task_no = ?2 and state = ${RUN_LEASED}`;

const SETTLE_RUN = `
  update run
  set state = ${RUN_SETTLED}, outcome = ?3, reason = ?4, settled_at = ?5,
    runnable_at = null, wake_key = null, worker_no = null, fence = null
  where no = ?1 and task_no = ?2 and state <> ${RUN_SETTLED}`;

/** A run that is in no queue yet. */
export interface QueuedRun {
  readonly no: RunNo;
  readonly run: NewRun;
}

/** Returns the run that was queued last. */
export function writeRuns(
  tx: Connection,
  task: Pick<Task, 'no' | 'agent' | 'scope'>,
  writes: readonly RunWrite[],
  moment: Moment,
): QueuedRun | undefined {
  let queued: QueuedRun | undefined;
  for (const write of writes) {
    switch (write.kind) {
      case 'queue':
        queued = { no: queueRun(tx, task, write.run, moment.now), run: write.run };
        break;
      case 'park': {
        const { runNo, wakeAt = null, wakeKey = null } = write;
        expectOne(tx.run(PARK_RUN, runNo, task.no, wakeAt, wakeKey), 'the run that parks is leased');
        break;
      }
      case 'settle': {
        const { runNo, reason = null } = write;
        const outcome = RUN_OUTCOME_NUMBERS[write.outcome];
        expectOne(tx.run(SETTLE_RUN, runNo, task.no, outcome, reason, moment.at), 'the run that settles is active');
        break;
      }
      default:
        unreachable(write);
    }
  }
  return queued;
}

function queueRun(tx: Connection, task: Pick<Task, 'no' | 'agent' | 'scope'>, run: NewRun, now: Instant): RunNo {
  const { id, turnNo, attempt } = run;
  const runnableAt = instant(now + run.delayMs);
  return tx.insert(QUEUE_RUN, id, task.no, turnNo, attempt, task.agent, task.scope, runnableAt) as RunNo;
}

const INSERT_TURN = `
  insert into turn (task_no, turn_no, message_id, message_seq, state, skill, principal, agent_version, input, attempts)
  values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)`;

/** \`headSeq\` is the head before the write's events: the turn's message stands so many places behind it. */
export interface TurnPlace {
  readonly taskNo: TaskNo;
  readonly headSeq: number;
}

export function insertTurn(
  tx: Connection,
  place: TurnPlace,
  turn: NewTurn,
  begun: { readonly state: 'queued' | 'current'; readonly attempts: number },
): void {
  const { turnNo, messageId, skill, agentVersion, input = null } = turn;
  const messageSeq = place.headSeq + turn.messageOrdinal;
  const state = TURN_STATE_NUMBERS[begun.state];
  const principal = JSON.stringify(turn.principal);
  tx.run(
    INSERT_TURN,
    ...[place.taskNo, turnNo, messageId, messageSeq, state, skill, principal, agentVersion, input, begun.attempts],
  );
}

const ACTIVATE_TURN = `
  update turn
  set state = ${TURN_CURRENT}
  where task_no = ?1 and turn_no = ?2 and state = ${TURN_QUEUED}`;

const SETTLE_TURN = `
  update turn
  set state = ${TURN_SETTLED}, input = null
  where task_no = ?1 and turn_no = ?2 and state <> ${TURN_DROPPED}`;

const DROP_TURN = `
  update turn
  set state = ${TURN_DROPPED}, input = null
  where task_no = ?1 and turn_no = ?2 and state <> ${TURN_SETTLED}`;

const CHARGE_CRASH = `
  update turn
  set crashes = crashes + 1
  where task_no = ?1 and turn_no = ?2`;

const TURN_UPDATES = { activate: ACTIVATE_TURN, settle: SETTLE_TURN, drop: DROP_TURN, 'charge-crash': CHARGE_CRASH };

export function writeTurns(tx: Connection, place: TurnPlace, writes: readonly TurnWrite[]): void {
  for (const write of writes) {
    if (write.kind === 'begin') insertTurn(tx, place, write.turn, { state: 'current', attempts: 0 });
    else if (write.kind === 'enqueue') insertTurn(tx, place, write.turn, { state: 'queued', attempts: 0 });
    else expectOne(tx.run(TURN_UPDATES[write.kind], place.taskNo, write.turnNo), `the turn can ${write.kind}`);
  }
}

const SELECT_QUEUED_TURN = `
  select turn_no
  from turn
  where task_no = ?1 and state = ${TURN_QUEUED}
  limit 1`;

/** No constraint of a table can say it: nothing would ever take such a turn up, and its message would be lost. */
export function refuseQueuedTurns(tx: Connection, taskNo: TaskNo): void {
  assert(tx.one(SELECT_QUEUED_TURN, taskNo) === undefined, 'a task that has ended has no queued turn');
}

/** A row keeps the place in its journal that it was first given. */
const PUT_STEP = `
  insert into step (task_no, turn_no, step_key, ordinal, kind, state, due_at, question, result)
  values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
  on conflict (task_no, turn_no, step_key) do update
  set kind = excluded.kind, state = excluded.state, due_at = excluded.due_at,
    question = excluded.question, result = excluded.result`;

/** Room for the facts of one grant between two heads. */
const EMISSIONS_PER_SEQ = 2 ** 20;

/**
 * `head` is the task row's after the write, `emitNo` the place of the first entry among its grant's facts. A later write
 * has a larger head, or the same head and grant and a larger emit number, so the two together order a journal.
 */
export function writeJournal(
  tx: Connection,
  head: { readonly taskNo: TaskNo; readonly headSeq: number; readonly emitNo: number },
  writes: readonly JournalWrite[],
): void {
  writes.forEach((write, index) => {
    const ordinal = head.headSeq * EMISSIONS_PER_SEQ + ((head.emitNo + index) % EMISSIONS_PER_SEQ);
    const { turnNo, key, dueAt = null, result = null } = write;
    const question = write.question === undefined ? null : JSON.stringify(write.question);
    const kind = JOURNAL_KIND_NUMBERS[write.kind];
    const state = JOURNAL_STATE_NUMBERS[write.state];
    tx.run(PUT_STEP, head.taskNo, turnNo, key, ordinal, kind, state, dueAt, question, result);
  });
}

export function writeSessionState(
  tx: Connection,
  sessionNo: SessionNo,
  values: ReadonlyMap<string, string | undefined>,
): void {
  for (const [key, value] of values) {
    if (value === undefined) tx.write(deleteSessionState(sqliteDialect, sessionNo, key));
    else tx.write(putSessionState(sqliteDialect, sessionNo, { key, value }));
  }
}

/** Fails when one is gone: the log would name bytes that are not there. */
export function writeBlobs(tx: Connection, taskNo: TaskNo, blobNos: readonly BlobNo[]): void {
  if (blobNos.length === 0) return;
  const taken = tx.changeAll(takeUpBlobs(sqliteDialect, taskNo, blobNos));
  assert(taken.length === new Set(blobNos).size, 'a blob that an event names is staged, and nobody else took it up');
}

const PUT_MESSAGE = `
  insert or replace into idempotency
    (agent, scope, message_id, fingerprint, fingerprint_version, state, task_no, turn_no, message_seq)
  values (?1, ?2, ?3, ?4, ?5, ${IDEMPOTENCY_STATE_NUMBERS.task}, ?6, ?7, ?8)`;

/** Replaces only a reply that has expired: whoever calls has seen that the message is not known. */
export function writeMessage(
  tx: Connection,
  place: Place,
  message: {
    readonly messageId: MessageId;
    readonly fingerprint: Fingerprint;
    readonly taskNo: TaskNo;
    readonly turnNo: TurnNo;
    readonly messageSeq: number;
  },
): void {
  const { messageId, fingerprint, taskNo, turnNo, messageSeq } = message;
  const { digest, version } = fingerprint;
  tx.run(PUT_MESSAGE, place.agent, place.scope, messageId, digest, version, taskNo, turnNo, messageSeq);
}

function expectOne(changed: number, rule: string): void {
  assert(changed === 1, rule);
}
