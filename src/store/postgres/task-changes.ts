import { assert } from '../../base/assert.ts';
import { instant } from '../../base/clock.ts';
import type { NewEvent } from '../../model/event.ts';
import type { RunId, RunNo, Seq, WorkerId, WorkerNo } from '../../model/ids.ts';
import { isTerminal, type TaskState } from '../../model/task.ts';
import { rowEffect } from '../../model/task-fold.ts';
import type { NewDeadline, NewRun, TaskWrite } from '../../model/task-write.ts';
import type { CommandResult } from '../contract.ts';
import type { FactPlan } from '../fact-plan.ts';
import { newGrant } from '../new-grant.ts';
import { grantEvents, messageSeqOf, placeEvents } from '../place-events.ts';
import type { Dialect } from '../sql/dialect.ts';
import { decodeTask, decodeTurn, type TaskRow, type TurnRow } from '../sql/row-codec.ts';
import type { Row, Statement } from './database.ts';
import { followEvents, followFacts } from './following-rows.ts';
import { forgetMessage, isRememberedHere, rememberMessage } from './message-rows.ts';
import type { TaskPlaceKey } from './moved-task.ts';
import { writeRun } from './run-rows.ts';
import { type TaskCondition, updateTaskReturning } from './task-update.ts';
import { countAttempt, refuseQueuedTurns, writeTurn } from './turn-rows.ts';

/** A change of one task: a command, or the settlement of a run with the facts that come before it. */
export interface TaskChange {
  readonly key: TaskPlaceKey;
  readonly headSeq: Seq;
  readonly write: TaskWrite;
  readonly now: number | null;
  /** A settlement's grant, facts and sign of life. */
  readonly grant?: TaskCondition['grant'];
  readonly facts?: FactPlan & { readonly count: number };
  readonly signOfLife?: NewDeadline;
  /** The state at `headSeq`, for a write that grants without a status of its own. */
  readonly stateBefore?: TaskState;
}

export type ChangeOutcome =
  | (CommandResult & { readonly kind: 'written' })
  /** The condition on the task did not hold. */
  | { readonly kind: 'unmoved' }
  /** Its message is known. */
  | { readonly kind: 'known' };

/** The statements of a change's one transaction, and how to read their answers. */
export interface PlannedChange {
  readonly statements: readonly Statement[];
  /** All that it appends, a grant's events last. */
  readonly events: readonly NewEvent[];
  /** The run that it grants. */
  readonly leased: RunId | undefined;
  readonly read: (answers: readonly (readonly Row[])[]) => ChangeOutcome;
}

/** Where the condition on the task does not hold, or the message is known, the transaction writes nothing. */
export function planChange(d: Dialect, change: TaskChange): PlannedChange {
  const lease = newLease(change);
  const started = lease === undefined ? [] : grantEvents(lease, { ...lease.run, workerId: lease.workerId });
  const events = [...(change.facts?.events ?? []), ...change.write.events, ...started];
  const message = rememberedMessage(change, events);
  const { key, now } = change;
  const remember = message === undefined ? [] : [rememberMessage(d, key, message, now)];
  const forget = message === undefined ? [] : [forgetMessage(d, key, message.messageId)];
  const rows = followingRows(d, change, { events, lease });
  return {
    statements: [...remember, moveTask(d, change, { events, lease }), ...rows, ...forget],
    events,
    leased: lease?.run.id,
    read: (answers) => {
      const [remembered, moved, ...following] = message === undefined ? [undefined, ...answers] : answers;
      if (remembered?.length === 0) return { kind: 'known' };
      const row = moved?.[0];
      if (row === undefined) return { kind: 'unmoved' };
      const task = decodeTask(row as unknown as TaskRow);
      const stored = placeEvents(events, { headSeq: task.headSeq - events.length, at: task.headAt });
      if (lease === undefined) return { kind: 'written', task, events: stored };
      // The statements of the lease are the last two of the rows.
      const [runRows, turnRows] = following.slice(rows.length - 2, rows.length);
      const grant = newGrant(task, lease, {
        runNo: runRows?.[0]?.no as RunNo,
        turn: decodeTurn(turnRows?.[0] as unknown as TurnRow),
        events: stored.slice(-started.length),
      });
      return { kind: 'written', task, events: stored, grant };
    },
  };
}

/** The run that a write queues for a worker, which gets its lease in the same transaction. */
interface NewLease {
  readonly run: NewRun;
  readonly workerNo: WorkerNo;
  readonly workerId: WorkerId;
  /** The task's state before the grant. */
  readonly state: TaskState;
}

function newLease(change: TaskChange): NewLease | undefined {
  const { grantTo, runs = [] } = change.write;
  if (grantTo === undefined) return undefined;
  const queued = runs.findLast((write) => write.kind === 'queue');
  assert(queued !== undefined, 'a write that grants queues the run that it grants');
  const state =
    rowEffect([...(change.facts?.events ?? []), ...change.write.events]).status?.state ?? change.stateBefore;
  assert(state !== undefined, 'a write that grants says or knows what state the task is in');
  return { run: queued.run, workerNo: grantTo.workerNo, workerId: grantTo.workerId, state };
}

function rememberedMessage(change: TaskChange, events: readonly NewEvent[]) {
  const { idempotency } = change.write;
  if (idempotency === undefined) return undefined;
  const placed = placeEvents(events, { headSeq: change.headSeq, at: instant(0) });
  return { ...idempotency, messageSeq: messageSeqOf(placed, idempotency.messageId) };
}

function moveTask(
  d: Dialect,
  change: TaskChange,
  appended: { readonly events: readonly NewEvent[]; readonly lease: NewLease | undefined },
): Statement {
  const { write, grant, signOfLife } = change;
  const { events, lease } = appended;
  const messageId = write.idempotency?.messageId;
  return updateTaskReturning(d, {
    key: change.key,
    condition: {
      headSeq: change.headSeq,
      ...(grant === undefined ? {} : { grant }),
      ...(messageId === undefined ? {} : { and: (p) => isRememberedHere(d, p, messageId) }),
    },
    effect: rowEffect(events),
    list: { events, ordinals: events.map((_event, index) => index + 1) },
    fences: (write.revokeFence === true ? 1 : 0) + (lease === undefined ? 0 : 1),
    emit: lease === undefined ? (change.facts?.count ?? 0) : 'begin',
    deadline: write.deadline,
    ...(signOfLife === undefined ? {} : { signOfLife }),
    now: change.now,
  });
}

/** Turns before runs, as the locks go; the rows of a lease come last. */
function followingRows(
  d: Dialect,
  change: TaskChange,
  appended: {
    readonly events: readonly NewEvent[];

    readonly lease: NewLease | undefined;
  },
): readonly Statement[] {
  const { key, write, now } = change;
  const { events, lease } = appended;
  // A turn names its message by its place among the write's own events.
  const eventsFromWrite = events.length - (change.facts?.events.length ?? 0);
  const runs = (write.runs ?? []).filter((run) => lease === undefined || run.kind !== 'queue' || run.run !== lease.run);
  return [
    ...followEvents(d, key, events),
    ...(change.facts === undefined ? [] : followFacts(d, key, change.facts, -change.facts.count)),
    ...followFacts(d, key, { journal: write.journal ?? [], sessionState: new Map(), blobs: write.blobs ?? [] }, 0),
    ...(write.turns ?? []).map((turn) => writeTurn(d, key, turn, eventsFromWrite)),
    ...(endsTask(events) ? [refuseQueuedTurns(d, key)] : []),
    ...runs.map((run) => writeRun(d, key, run, { now })),
    ...(lease === undefined
      ? []
      : [
          writeRun(d, key, { kind: 'queue', run: lease.run }, { now, leaseTo: lease.workerNo }),
          countAttempt(d, key, lease.run.turnNo),
        ]),
  ];
}

function endsTask(events: readonly NewEvent[]): boolean {
  const { status } = rowEffect(events);
  return status !== undefined && isTerminal(status.state);
}
