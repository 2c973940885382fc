import { assert } from '../../base/assert.ts';
import { CodedError } from '../../base/errors.ts';
import type { AgentName, Seq, SessionNo, TaskNo } from '../../model/ids.ts';
import type { Scope } from '../../model/scope.ts';
import type { Session } from '../../model/session.ts';
import type { TaskWrite } from '../../model/task-write.ts';
import type {
  AppendResult,
  ClaimRequest,
  CommandResult,
  FactBatch,
  Grant,
  NewSession,
  SettleRequest,
  SubmitRequest,
  SubmitResult,
} from '../contract.ts';
import { deadlinesAfterAppend, firstDeadlines } from '../deadline.ts';
import { newTask } from '../new-task.ts';
import { frozenCopy } from './frozen.ts';
import { knownMessage, type SessionRecord, type TaskRecord } from './records.ts';
import type { Tables } from './tables.ts';
import { TaskDraft } from './task-draft.ts';
import { owned } from './task-reads.ts';

interface Submit {
  readonly agent: AgentName;
  readonly scope: Scope;
  readonly request: SubmitRequest;
}

/** Creates a task, unless its message is known. */
export function submitTask(tables: Tables, submit: Submit): SubmitResult {
  const { agent, scope, request } = submit;
  const messageId = request.idempotency?.messageId;
  const known = messageId === undefined ? undefined : tables.scope(agent, scope)?.known(messageId, tables.now());
  if (known !== undefined) return { kind: 'repeated', message: knownMessage(known) };
  assert(!tables.taskIds.has(request.taskId), 'a task id is used once');
  const session = sessionOf(tables, submit);
  const draft = new TaskDraft(tables, emptyRecord(tables, submit, session));
  draft.begin(request);
  const grant = draft.grantTo(request.grantTo);
  draft.apply();
  // The session is opened last: until here nothing was written, and nothing can fail any more.
  openSession(tables, scope, session);
  const { task } = draft.record;
  return { kind: 'created', task, events: draft.written(), ...(grant === undefined ? {} : { grant }) };
}

function emptyRecord(tables: Tables, { scope, request }: Submit, session: SessionRecord): TaskRecord {
  const now = tables.now();
  const { deadline, totalMs, trace, metadata } = request;
  tables.last.task += 1;
  const task = newTask({
    no: tables.last.task as TaskNo,
    id: request.taskId,
    scope,
    session: session.session,
    at: now,
    deadlines: firstDeadlines({ now, deadline, ...(totalMs === undefined ? {} : { totalMs }) }),
    ...(trace === undefined ? {} : { trace }),
    ...(metadata === undefined ? {} : { metadata: frozenCopy(metadata) }),
  });
  return {
    task,
    session,
    log: [],
    speech: [],
    artifacts: undefined,
    runs: [],
    activeRun: undefined,
    turns: [],
    journal: undefined,
    holdsBytes: false,
  };
}

interface SessionPlace {
  readonly agent: AgentName;
  readonly scope: Scope;
  readonly request: NewSession;
}

/** The session of a context, opened where it is not known. */
export function openScopedSession(tables: Tables, place: SessionPlace): Session {
  const record = sessionOf(tables, place);
  openSession(tables, place.scope, record);
  return record.session;
}

/** The session of a context: the known one, or one to be opened. */
function sessionOf(tables: Tables, { agent, scope, request }: SessionPlace): SessionRecord {
  const { contextId, threadId } = request;
  const known = tables.scope(agent, scope)?.sessions.get(contextId);
  if (known !== undefined) return known;
  assert(!tables.threadIds.has(threadId), 'a thread id is used once');
  const no = (tables.last.session + 1) as SessionNo;
  return { session: Object.freeze({ no, agent, contextId, threadId, createdAt: tables.now() }), state: undefined };
}

function openSession(tables: Tables, scope: Scope, record: SessionRecord): void {
  const { no, agent, contextId, threadId } = record.session;
  if (tables.sessions.has(no)) return;
  tables.last.session = no;
  tables.sessions.set(no, record);
  tables.threadIds.add(threadId);
  tables.openScope(agent, scope).sessions.set(contextId, record);
}

/** Changes a task that still has this head. */
export function commandTask(
  tables: Tables,
  record: TaskRecord | undefined,
  request: { readonly headSeq: Seq; readonly write: TaskWrite },
): CommandResult {
  if (record === undefined) return { kind: 'gone' };
  return writeDraft(new TaskDraft(tables, record), request);
}

/** Ends or parks a run: its last facts and the settlement that was decided on this head. */
export function settleRun(tables: Tables, grant: Grant, request: SettleRequest): CommandResult {
  const record = heldTask(tables, grant);
  if (record.task.emitNo !== request.emitNo) throw leaseLost(grant);
  const draft = new TaskDraft(tables, record);
  draft.addFacts(request.facts);
  draft.setDeadlines(deadlinesAfterAppend(draft.task, request.deadline, draft.now));
  return writeDraft(draft, request);
}

function writeDraft(draft: TaskDraft, request: { readonly headSeq: Seq; readonly write: TaskWrite }): CommandResult {
  const { write } = request;
  const repeated = draft.repeats(write.idempotency);
  if (repeated !== undefined) return repeated;
  if (draft.record.task.headSeq !== request.headSeq) return { kind: 'moved' };
  draft.write(write);
  const grant = draft.grantTo(write.grantTo);
  draft.apply();
  const { task } = draft.record;
  return { kind: 'written', task, events: draft.written(), ...(grant === undefined ? {} : { grant }) };
}

/** Writes what a run emitted, if its grant is the newest and the batch the next; a batch that was committed before is a success. */
export function appendFacts(tables: Tables, grant: Grant, batch: FactBatch): AppendResult {
  const record = heldTask(tables, grant);
  const { task } = record;
  if (task.emitNo !== batch.emitNo) {
    if (task.emitNo === batch.emitNo + batch.facts.length) return repeatedBatch(record, batch);
    throw leaseLost(grant);
  }
  const draft = new TaskDraft(tables, record);
  draft.addFacts(batch.facts);
  draft.setDeadlines(deadlinesAfterAppend(draft.task, batch.deadline, draft.now));
  draft.apply();
  return { kind: 'written', events: draft.written(), headSeq: record.task.headSeq };
}

/** The newest events, as many as the batch had: the batch itself, where no command came after it. */
function repeatedBatch(record: TaskRecord, batch: FactBatch): AppendResult {
  const count = batch.facts.filter(({ kind }) => kind === 'event').length;
  const events = record.log.slice(record.log.length - count);
  return { kind: 'repeated', events: owned(record, events), headSeq: record.task.headSeq };
}

function heldTask(tables: Tables, grant: Grant): TaskRecord {
  const record = tables.tasks.get(grant.taskNo);
  if (record === undefined || record.task.fence !== grant.fence || record.task.state !== 'working') {
    throw leaseLost(grant);
  }
  return record;
}

function leaseLost(grant: Grant): CodedError {
  return new CodedError('lease_lost', { message: `Run ${grant.runId} no longer holds task ${grant.taskId}.` });
}

/** Leases runnable runs to a worker. */
export function claimRuns(tables: Tables, request: ClaimRequest): readonly Grant[] {
  const { agents, runsMax, workerNo, workerId, deadline } = request;
  return tables.ready.take({ agents, now: tables.now(), runsMax }).map(({ record, run }) => {
    const draft = new TaskDraft(tables, record);
    const grant = draft.grant({ runNo: run.no, worker: { workerNo, workerId }, claimed: { deadline } });
    draft.apply();
    return grant;
  });
}
