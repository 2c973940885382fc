import { type Instant, instant } from '../../base/clock.ts';
import { CodedError } from '../../base/errors.ts';
import type { StoredEvent } from '../../model/event.ts';
import type { Seq, SessionNo } from '../../model/ids.ts';
import { TASK_STATE_NUMBERS } from '../../model/task.ts';
import { type RowEffect, rowEffect } from '../../model/task-fold.ts';
import type { AppendResult, FactBatch, Grant } from '../contract.ts';
import { type FactPlan, planFacts } from '../fact-plan.ts';
import { decodeEvent, type EventRow } from '../sql/event-codec.ts';
import { DEADLINE_KIND_NUMBERS } from '../sql/row-codec.ts';
import type { Connection, Value } from './connection.ts';
import { type PreparedEvents, prepareEvents, ROW_BYTES, writeEvents } from './event-writes.ts';
import { writeBlobs, writeJournal, writeSessionState } from './row-writes.ts';
import { readTaskRow } from './task-row.ts';

export interface PreparedBatch {
  readonly batch: FactBatch;
  readonly plan: FactPlan;
  readonly prepared: PreparedEvents;
  readonly effect: RowEffect;
  /** About what it writes. */
  readonly bytes: number;
}

export function prepareBatch(batch: FactBatch): PreparedBatch {
  const plan = planFacts(batch.facts);
  const prepared = prepareEvents(plan.events);
  let bytes = prepared.bytes;
  for (const { result } of plan.journal) bytes += ROW_BYTES + (result?.length ?? 0);
  for (const value of plan.sessionState.values()) bytes += ROW_BYTES + (value?.length ?? 0);
  return { batch, plan, prepared, effect: rowEffect(plan.events), bytes };
}

const WORKING = TASK_STATE_NUMBERS.working;
const CANCEL = DEADLINE_KIND_NUMBERS.cancel;
const TOTAL = DEADLINE_KIND_NUMBERS.total;

const SIGN_OF_LIFE = `,
    deadline_at = case when deadline_kind = ${CANCEL} then deadline_at when total_at < ?7 then total_at else ?7 end,
    deadline_kind = case when deadline_kind = ${CANCEL} then deadline_kind when total_at < ?7 then ${TOTAL} else ?8 end`;

const FOLDED = `,
    state = coalesce(?9, state),
    state_at = case when ?9 is null then state_at else max(head_at, ?6) end,
    status_seq = case when ?9 is null then status_seq else head_seq + ?10 end,
    generation = generation + ?11,
    cancel_at = case when ?12 is null then cancel_at else max(head_at, ?6) end,
    cancel_by = coalesce(?12, cancel_by),
    turn_no = max(turn_no, ?13)`;

/**
 * The whole condition of an append stands in the update of the row that it is about. A chunk sets the columns of its own
 * event and no other, so no index is touched.
 */
function advance(columns: string): string {
  return `
  update task
  set head_seq = head_seq + ?4,
    head_at = case when ?4 = 0 then head_at else max(head_at, ?6) end,
    emit_no = emit_no + ?5${columns}
  where no = ?1 and fence = ?2 and emit_no = ?3 and state = ${WORKING}
  returning head_seq, head_at, session_no`;
}

const ADVANCE = advance('');
const ADVANCE_ALIVE = advance(SIGN_OF_LIFE);
const ADVANCE_FOLDED = advance(FOLDED);
const ADVANCE_FOLDED_ALIVE = advance(SIGN_OF_LIFE + FOLDED);

interface AdvancedRow {
  readonly head_seq: number;
  readonly head_at: number;
  readonly session_no: number;
}

export function append(tx: Connection, grant: Grant, prepared: PreparedBatch, now: Instant): AppendResult {
  const row = advanceIfGranted(tx, grant, prepared, now);
  if (row === undefined) return repeatedOrLost(tx, grant, prepared);
  const { batch, plan } = prepared;
  const { taskNo } = grant;
  const place = { taskNo, headSeq: row.head_seq - plan.events.length, at: instant(row.head_at) };
  const events = writeEvents(tx, prepared.prepared, place);
  if (plan.journal.length > 0) writeJournal(tx, { taskNo, headSeq: row.head_seq, emitNo: batch.emitNo }, plan.journal);
  if (plan.sessionState.size > 0) writeSessionState(tx, row.session_no as SessionNo, plan.sessionState);
  if (plan.blobs.length > 0) writeBlobs(tx, taskNo, plan.blobs);
  return { kind: 'written', events, headSeq: row.head_seq as Seq };
}

function advanceIfGranted(
  tx: Connection,
  grant: Grant,
  prepared: PreparedBatch,
  now: Instant,
): AdvancedRow | undefined {
  const { batch, plan, effect } = prepared;
  const guard: Value[] = [grant.taskNo, grant.fence, batch.emitNo, plan.events.length, batch.facts.length, now];
  const isFolded = effect.status !== undefined || effect.cancelBy !== undefined || effect.turnNo !== undefined;
  const { deadline } = batch;
  const life = deadline === undefined ? [] : [now + deadline.inMs, DEADLINE_KIND_NUMBERS[deadline.kind]];
  if (!isFolded) return tx.change(deadline === undefined ? ADVANCE : ADVANCE_ALIVE, ...guard, ...life);
  const { status, statusCount, cancelBy = null, turnNo = 0 } = effect;
  const state = status === undefined ? null : TASK_STATE_NUMBERS[status.state];
  const folded = [state, status?.ordinal ?? null, statusCount, cancelBy, turnNo];
  if (deadline === undefined) return tx.change(ADVANCE_FOLDED, ...guard, null, null, ...folded);
  return tx.change(ADVANCE_FOLDED_ALIVE, ...guard, ...life, ...folded);
}

/** A newer grant, an ended task, or this batch was committed before: one is in flight, so the emit number then stands at its end. */
function repeatedOrLost(tx: Connection, grant: Grant, { batch, prepared }: PreparedBatch): AppendResult {
  const task = readTaskRow(tx, grant.taskNo);
  const isRepeat =
    task !== undefined &&
    task.fence === grant.fence &&
    task.state === 'working' &&
    batch.facts.length > 0 &&
    task.emitNo === batch.emitNo + batch.facts.length;
  if (!isRepeat) throw new CodedError('lease_lost');
  return { kind: 'repeated', events: findEvents(tx, grant, prepared), headSeq: task.headSeq };
}

const SELECT_EVENTS_AFTER_GRANT = `
  select seq, kind, artifact_id, run_no, at, payload
  from event
  where task_no = ?1 and seq > ?2
  order by seq desc`;

/** The events of a batch that is in the log already: the newest stretch of it that reads like them. */
function findEvents(tx: Connection, grant: Grant, { columns }: PreparedEvents): readonly StoredEvent[] {
  const found: EventRow[] = [];
  if (columns.length === 0) return [];
  for (const row of tx.eachRaw<EventRow>(SELECT_EVENTS_AFTER_GRANT, grant.taskNo, grant.headSeq)) {
    found.unshift(row);
    const stretch = found.slice(0, columns.length);
    const isAlike = columns.every((column, index) => {
      const candidate = stretch[index];
      return (
        candidate?.kind === column.kind &&
        candidate.payload === column.payload &&
        candidate.artifact_id === column.artifactId
      );
    });
    if (isAlike) return stretch.map(decodeEvent);
  }
  return [];
}
