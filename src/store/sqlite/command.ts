import type { Instant } from '../../base/clock.ts';
import { CodedError } from '../../base/errors.ts';
import type { StoredEvent } from '../../model/event.ts';
import type { Fence, Seq } from '../../model/ids.ts';
import { isTerminal, type Task } from '../../model/task.ts';
import { foldTask } from '../../model/task-fold.ts';
import type { TaskWrite } from '../../model/task-write.ts';
import type { CommandResult, Grant, SettleRequest } from '../contract.ts';
import { deadlinesAfterWrite } from '../deadline.ts';
import { type FactPlan, planFacts } from '../fact-plan.ts';
import { messageSeqOf, writtenAt } from '../place-events.ts';
import type { Connection } from './connection.ts';
import { type PreparedEvents, prepareEvents, writeEvents } from './event-writes.ts';
import { grantRun } from './grant.ts';
import {
  refuseQueuedTurns,
  writeBlobs,
  writeJournal,
  writeMessage,
  writeRuns,
  writeSessionState,
  writeTurns,
} from './row-writes.ts';
import { readKnownMessage } from './submit.ts';
import { readTaskRow, updateTask, withDeadlines } from './task-row.ts';

export interface PreparedCommand {
  readonly headSeq: Seq;
  readonly write: TaskWrite;
  readonly prepared: PreparedEvents;
}

export function prepareCommand(headSeq: Seq, write: TaskWrite): PreparedCommand {
  return { headSeq, write, prepared: prepareEvents(write.events) };
}

/** `task` is the row as it is in this transaction. */
export function command(
  tx: Connection,
  task: Task | undefined,
  prepared: PreparedCommand,
  now: Instant,
): CommandResult {
  if (task === undefined) return { kind: 'gone' };
  const { idempotency } = prepared.write;
  const message = idempotency && readKnownMessage(tx, task, idempotency.messageId, now);
  if (message !== undefined) return { kind: 'repeated', message };
  if (task.headSeq !== prepared.headSeq) return { kind: 'moved' };
  return writeCommand(tx, task, { ...prepared, before: task, factEvents: [] }, now);
}

export interface PreparedSettlement extends PreparedCommand {
  readonly request: SettleRequest;
  readonly plan: FactPlan;
  readonly preparedFacts: PreparedEvents;
}

export function prepareSettlement(request: SettleRequest): PreparedSettlement {
  const plan = planFacts(request.facts);
  return {
    ...prepareCommand(request.headSeq, request.write),
    request,
    plan,
    preparedFacts: prepareEvents(plan.events),
  };
}

export function settle(tx: Connection, grant: Grant, settlement: PreparedSettlement, now: Instant): CommandResult {
  const { request, plan } = settlement;
  const before = readTaskRow(tx, grant.taskNo);
  if (before?.fence !== grant.fence || before.state !== 'working' || before.emitNo !== request.emitNo) {
    throw new CodedError('lease_lost');
  }
  if (before.headSeq !== request.headSeq) return { kind: 'moved' };
  const at = writtenAt(before, now);
  const factEvents = writeEvents(tx, settlement.preparedFacts, { taskNo: before.no, headSeq: before.headSeq, at });
  const task = { ...factEvents.reduce(foldTask, before), emitNo: before.emitNo + request.facts.length };
  writeJournal(tx, { taskNo: task.no, headSeq: task.headSeq, emitNo: before.emitNo }, plan.journal);
  writeSessionState(tx, task.sessionNo, plan.sessionState);
  writeBlobs(tx, task.no, plan.blobs);
  return writeCommand(tx, task, { ...settlement, before, factEvents }, now);
}

interface CommandWrite extends PreparedCommand {
  /** The row as it stands in the table. */
  readonly before: Task;
  /** What was appended before the write's own events, in the same transaction. */
  readonly factEvents: readonly StoredEvent[];
}

/** `task` is the row after the facts, which the table does not hold yet: the row is updated once, at the end. */
function writeCommand(
  tx: Connection,
  task: Task,
  { before, factEvents, write, prepared }: CommandWrite,
  now: Instant,
): CommandResult {
  const moment = { now, at: writtenAt(before, now) };
  const written = writeEvents(tx, prepared, { taskNo: task.no, headSeq: task.headSeq, at: moment.at });
  const folded = written.reduce(foldTask, task);
  const after: Task = {
    ...withDeadlines(folded, deadlinesAfterWrite(folded, write.deadline, now)),
    fence: (write.revokeFence === true ? task.fence + 1 : task.fence) as Fence,
  };
  const queued = writeRuns(tx, task, write.runs ?? [], moment);
  writeTurns(tx, { taskNo: task.no, headSeq: task.headSeq }, write.turns ?? []);
  if (isTerminal(after.state)) refuseQueuedTurns(tx, task.no);
  writeJournal(tx, { taskNo: task.no, headSeq: after.headSeq, emitNo: after.emitNo }, write.journal ?? []);
  writeBlobs(tx, task.no, write.blobs ?? []);
  if (write.idempotency !== undefined) {
    const { messageId } = write.idempotency;
    writeMessage(tx, task, { ...write.idempotency, taskNo: task.no, messageSeq: messageSeqOf(written, messageId) });
  }
  const events = [...factEvents, ...written];
  if (write.grantTo === undefined || queued === undefined) {
    updateTask(tx, before, after);
    return { kind: 'written', task: after, events };
  }
  const granted = grantRun(tx, after, { ...queued.run, no: queued.no }, write.grantTo, moment);
  updateTask(tx, before, granted.task);
  return { kind: 'written', task: granted.task, events: [...events, ...granted.grant.events], grant: granted.grant };
}
