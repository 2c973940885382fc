import { assert } from '../../base/assert.ts';
import type { Instant } from '../../base/clock.ts';
import type { NewEvent, StoredEvent } from '../../model/event.ts';
import type { BlobNo, Fence, MessageId, RunNo, Seq, TurnNo, WorkerId, WorkerNo } from '../../model/ids.ts';
import type { Run } from '../../model/run.ts';
import { isTerminal, type Task } from '../../model/task.ts';
import { type RowEffect, rowEffect } from '../../model/task-fold.ts';
import type { Fingerprint, JournalWrite, NewDeadline, TaskWrite } from '../../model/task-write.ts';
import type { Turn } from '../../model/turn.ts';
import type { CommandResult, Fact, Grant, SubmitRequest } from '../contract.ts';
import { type Deadlines, deadlinesAfterClaim, deadlinesAfterWrite } from '../deadline.ts';
import { planFacts } from '../fact-plan.ts';
import { newGrant } from '../new-grant.ts';
import { grantEvents, messageSeqOf, writtenAt } from '../place-events.ts';
import { applyDraft } from './apply-draft.ts';
import { frozenEvent, withOwnBytes } from './frozen.ts';
import { knownMessage, type TaskRecord, type TurnRecord } from './records.ts';
import { writeRun } from './run-rows.ts';
import type { Tables } from './tables.ts';
import { beginTurn, writeTurn } from './turn-rows.ts';

export interface MessageToRemember {
  readonly messageId: MessageId;
  readonly fingerprint: Fingerprint;
  readonly turnNo: TurnNo;
}

/**
 * One change of a task, prepared beside it. Every rule is checked here, and nothing of the store is touched
 * before `apply`, which cannot fail: so a write is all or nothing.
 */
export class TaskDraft {
  readonly tables: Tables;
  readonly record: TaskRecord;
  /** A copy of the row; it is frozen when it takes the row's place. */
  task: Writable<Task>;
  runs: readonly Run[];
  turns: readonly TurnRecord[];
  readonly events: StoredEvent[] = [];
  readonly journal: JournalWrite[] = [];
  readonly sessionState = new Map<string, string | undefined>();
  readonly blobs: BlobNo[] = [];
  message: MessageToRemember | undefined;
  readonly now: Instant;
  /** The time of what is written: never before the newest event's. */
  readonly at: Instant;

  constructor(tables: Tables, record: TaskRecord) {
    this.tables = tables;
    this.record = record;
    this.task = { ...record.task };
    this.runs = record.runs;
    this.turns = record.turns;
    this.now = tables.now();
    this.at = writtenAt(record.log.length === 0 ? undefined : record.task, this.now);
  }

  /** The facts of a run. */
  addFacts(facts: readonly Fact[]): void {
    const plan = planFacts(facts);
    this.#addEvents(plan.events);
    this.journal.push(...plan.journal);
    for (const [key, value] of plan.sessionState) this.sessionState.set(key, value);
    this.blobs.push(...plan.blobs);
    this.task.emitNo += facts.length;
  }

  /** The rows of a new task. */
  begin(request: SubmitRequest): void {
    this.#addEvents(request.events);
    assert(this.task.statusSeq >= 1, 'a new task has a status');
    this.turns = beginTurn(this.turns, { turn: request.turn, state: 'current', base: 0 });
    this.runs = writeRun(this, { kind: 'queue', run: request.run });
    this.blobs.push(...request.blobs);
    if (request.idempotency !== undefined) this.message = { ...request.idempotency, turnNo: request.turn.turnNo };
  }

  /** A command's or a settlement's change, but for its grant. */
  write(write: TaskWrite): void {
    const base = this.task.headSeq;
    this.#addEvents(write.events);
    for (const turnWrite of write.turns ?? []) this.turns = writeTurn(this.turns, turnWrite, base);
    for (const runWrite of write.runs ?? []) this.runs = writeRun(this, runWrite);
    this.journal.push(...(write.journal ?? []));
    this.blobs.push(...(write.blobs ?? []));
    this.message = write.idempotency;
    if (write.revokeFence === true) this.#raiseFence();
    this.setDeadlines(deadlinesAfterWrite(this.task, write.deadline, this.now));
  }

  /** Leases a queued run, and tells what the worker needs to know. */
  grant(request: {
    readonly runNo: RunNo;
    readonly worker: { readonly workerNo: WorkerNo; readonly workerId: WorkerId };
    /** Of a claim: the wait in the queue is over. */
    readonly claimed?: { readonly deadline: NewDeadline | undefined };
  }): Grant {
    const { runNo, worker } = request;
    const index = this.runs.findIndex((candidate) => candidate.no === runNo);
    const run = this.runs[index];
    assert(run?.state === 'queued', 'a grant leases a queued run');
    const fence = this.#raiseFence();
    const { no, id, turnNo, attempt } = run;
    const leased: Run = Object.freeze({
      no,
      id,
      turnNo,
      attempt,
      startedAt: this.at,
      state: 'leased',
      workerNo: worker.workerNo,
      fence,
    });
    this.runs = this.runs.with(index, leased);
    this.task.emitNo = 0;
    const before = this.events.length;
    this.#addEvents(grantEvents(this.task, { ...run, workerId: worker.workerId }));
    if (request.claimed !== undefined) {
      this.setDeadlines(deadlinesAfterClaim(this.task, request.claimed.deadline, this.now));
    }
    const turn = this.#countAttempt(turnNo);
    return newGrant(this.task, { run, workerNo: worker.workerNo }, { runNo, turn, events: this.events.slice(before) });
  }

  /** The grant that a write asks for: of the run that it queues. */
  grantTo(worker: { readonly workerNo: WorkerNo; readonly workerId: WorkerId } | undefined): Grant | undefined {
    if (worker === undefined) return undefined;
    const queued = this.runs.findLast((run) => run.state === 'queued');
    assert(queued !== undefined, 'a write with grantTo queues the run that it grants');
    return this.grant({ runNo: queued.no, worker });
  }

  setDeadlines({ deadline, totalAt }: Deadlines): void {
    const loses =
      (deadline === undefined && 'deadline' in this.task) || (totalAt === undefined && 'totalAt' in this.task);
    if (loses) {
      // `delete` would turn the row into a dictionary, which is slow for as long as the task is kept.
      const { deadline: _deadline, totalAt: _totalAt, ...rest } = this.task;
      this.task = rest;
    }
    if (deadline !== undefined) this.task.deadline = Object.freeze(deadline);
    if (totalAt !== undefined) this.task.totalAt = totalAt;
  }

  /** The message that stands in the way of a write, if its id was used before. */
  repeats(idempotency: TaskWrite['idempotency']): CommandResult | undefined {
    if (idempotency === undefined) return undefined;
    const { agent, scope } = this.task;
    const row = this.tables.scope(agent, scope)?.known(idempotency.messageId, this.now);
    return row === undefined ? undefined : { kind: 'repeated', message: knownMessage(row) };
  }

  /** Checks what can only be checked whole, then changes the store. */
  apply(): void {
    assert(this.runs.filter((run) => run.state !== 'settled').length <= 1, 'a task has one active run at most');
    assert(
      this.turns.filter(({ turn }) => turn.state === 'current').length <= 1,
      'a task has one current turn at most',
    );
    assert(
      !isTerminal(this.task.state) || this.turns.every(({ turn }) => turn.state !== 'queued'),
      'a task that has ended has no queued turn',
    );
    this.tables.checkBlobs(this.blobs, this.task.no);
    const messageSeq = this.message === undefined ? undefined : messageSeqOf(this.events, this.message.messageId);
    Object.freeze(this.task);
    applyDraft(this, messageSeq);
  }

  /** The events of this write, for the caller. */
  written(): readonly StoredEvent[] {
    return this.record.holdsBytes ? withOwnBytes(this.events) : this.events;
  }

  #addEvents(events: readonly NewEvent[]): void {
    if (events.length === 0) return;
    let seq = this.task.headSeq;
    for (const event of events) {
      const isHomeless = event.kind === 'artifact-updated' && event.origin === 'output' && event.runNo === undefined;
      assert(!isHomeless, 'an output artifact has a run');
      seq = (seq + 1) as Seq;
      this.events.push(frozenEvent(event, seq, this.at));
    }
    moveRow(this.task, rowEffect(events), this.at);
  }

  #raiseFence(): Fence {
    this.task.fence = (this.task.fence + 1) as Fence;
    return this.task.fence;
  }

  #countAttempt(turnNo: TurnNo): Turn {
    const index = this.turns.findIndex(({ turn }) => turn.turnNo === turnNo);
    const known = this.turns[index];
    assert(known !== undefined, 'a run has a turn');
    const turn = Object.freeze({ ...known.turn, attempts: known.turn.attempts + 1 });
    this.turns = this.turns.with(index, { ...known, turn });
    return turn;
  }
}

type Writable<Row> = { -readonly [Key in keyof Row]: Row[Key] };

/** What the databases do in their UPDATE of the task row: the fold of the events, in one step. */
function moveRow(task: Writable<Task>, effect: RowEffect, at: Instant): void {
  const base = task.headSeq;
  task.headSeq = (base + effect.eventCount) as Seq;
  task.headAt = at;
  task.generation += effect.statusCount;
  if (effect.turnNo !== undefined && effect.turnNo > task.turnNo) task.turnNo = effect.turnNo;
  if (effect.cancelBy !== undefined) {
    task.cancelAt = at;
    task.cancelBy = effect.cancelBy;
  }
  if (effect.status === undefined) return;
  task.state = effect.status.state;
  task.stateAt = at;
  task.statusSeq = (base + effect.status.ordinal) as Seq;
  if (isTerminal(task.state)) task.endedAt = at;
}
