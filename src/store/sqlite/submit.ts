import { type Instant, instant } from '../../base/clock.ts';
import type { StoredEvent } from '../../model/event.ts';
import type { AgentName, Fence, RunNo, SessionNo, TaskNo } from '../../model/ids.ts';
import { RUN_STATE_NUMBERS } from '../../model/run.ts';
import type { Scope } from '../../model/scope.ts';
import type { Session } from '../../model/session.ts';
import { isTerminal, type Task } from '../../model/task.ts';
import { foldTask } from '../../model/task-fold.ts';
import type { Turn } from '../../model/turn.ts';
import type { Grant, KnownMessage, NewSession, SubmitRequest, SubmitResult } from '../contract.ts';
import { firstDeadlines } from '../deadline.ts';
import { newGrant } from '../new-grant.ts';
import { newTask } from '../new-task.ts';
import { grantEvents, messageSeqOf, placeEvents } from '../place-events.ts';
import { sqliteDialect } from '../sql/dialect.ts';
import { selectKnownMessage } from '../sql/message-reads.ts';
import { decodeKnownMessage, decodeSession, type KnownMessageRow, type SessionRow } from '../sql/row-codec.ts';
import { selectSession } from '../sql/session-reads.ts';
import type { Place } from '../sql/task-reads.ts';
import type { Connection } from './connection.ts';
import { type PreparedEvents, prepareEvents, writePlacedEvents } from './event-writes.ts';
import type { Holder } from './grant.ts';
import { insertTurn, writeBlobs, writeMessage } from './row-writes.ts';
import { insertTask, withDeadlines } from './task-row.ts';

/** A submit whose events are encoded, those of its grant included. */
export interface PreparedSubmit {
  readonly agent: AgentName;
  readonly scope: Scope;
  readonly request: SubmitRequest;
  readonly prepared: PreparedEvents;
}

export function prepareSubmit(
  place: { readonly agent: AgentName; readonly scope: Scope },
  request: SubmitRequest,
): PreparedSubmit {
  const { events, grantTo } = request;
  const state = events.reduce<Task['state']>(
    (last, event) => (event.kind === 'status-changed' ? event.state : last),
    'submitted',
  );
  const started = grantTo === undefined ? [] : grantEvents({ state }, { ...request.run, workerId: grantTo.workerId });
  return { ...place, request, prepared: prepareEvents([...events, ...started]) };
}

const SELECT_KNOWN_MESSAGE = selectKnownMessage(
  sqliteDialect,
  { agent: '', scope: '' },
  { messageId: '', now: 0 },
).text;

export function readKnownMessage(
  db: Connection,
  place: Place,
  messageId: string,
  now: Instant,
): KnownMessage | undefined {
  const row = db.one<KnownMessageRow>(SELECT_KNOWN_MESSAGE, place.agent, place.scope, messageId, now);
  return row === undefined ? undefined : decodeKnownMessage(row);
}

/** Every row of a new task is inserted as it stands after the whole submit, grant included, so none is updated. */
export function submit(tx: Connection, submitted: PreparedSubmit, now: Instant): SubmitResult {
  const { request, prepared } = submitted;
  const known = request.idempotency && readKnownMessage(tx, submitted, request.idempotency.messageId, now);
  if (known !== undefined) return { kind: 'repeated', message: known };

  const session = openSession(tx, submitted, request, now);
  const events = placeEvents(prepared.events, { headSeq: 0, at: now });
  const row = newRow(submitted, session, events, now);
  const no = insertTask(tx, row);
  const task: Task = { ...row, no };
  insertTurn(tx, { taskNo: no, headSeq: 0 }, request.turn, {
    state: 'current',
    attempts: request.grantTo === undefined ? 0 : 1,
  });
  const runNo = insertRun(tx, task, request, now);
  writePlacedEvents(tx, no, { columns: prepared.columns, placed: events });
  writeBlobs(tx, no, request.blobs);
  if (request.idempotency !== undefined) {
    const { messageId, fingerprint } = request.idempotency;
    const messageSeq = messageSeqOf(events, messageId);
    writeMessage(tx, submitted, { messageId, fingerprint, taskNo: no, turnNo: request.turn.turnNo, messageSeq });
  }
  if (request.grantTo === undefined) return { kind: 'created', task, events };
  const started = events.slice(request.events.length);
  return {
    kind: 'created',
    task,
    events,
    grant: firstGrant(task, request, { runNo, holder: request.grantTo, started }),
  };
}

const SELECT_SESSION = selectSession(sqliteDialect, { agent: '', scope: '' }, '').text;

const INSERT_SESSION = `
  insert into session (agent, scope, context_id, thread_id, created_at)
  values (?1, ?2, ?3, ?4, ?5)`;

/** The session of a context, opened where it is not known. */
export function openSession(
  tx: Connection,
  { agent, scope }: { readonly agent: AgentName; readonly scope: Scope },
  { contextId, threadId }: NewSession,
  now: Instant,
): Session {
  const row = tx.one<SessionRow>(SELECT_SESSION, agent, scope, contextId);
  if (row !== undefined) return decodeSession(row);
  const no = tx.insert(INSERT_SESSION, agent, scope, contextId, threadId, now) as SessionNo;
  return { no, agent, contextId, threadId, createdAt: now };
}

/** The row after all events; its number comes with its insert. */
function newRow(
  { scope, request }: PreparedSubmit,
  session: Session,
  events: readonly StoredEvent[],
  now: Instant,
): Task {
  const { deadline, totalMs, trace, metadata, grantTo } = request;
  const empty = newTask({
    no: 0 as TaskNo,
    id: request.taskId,
    scope,
    session,
    at: now,
    deadlines: firstDeadlines({ now, deadline, ...(totalMs === undefined ? {} : { totalMs }) }),
    ...(trace === undefined ? {} : { trace }),
    ...(metadata === undefined ? {} : { metadata }),
  });
  const folded = events.reduce(foldTask, empty);
  const row = isTerminal(folded.state) ? withDeadlines(folded, {}) : folded;
  return grantTo === undefined ? row : { ...row, fence: 1 as Fence };
}

const INSERT_RUN = `
  insert into run (id, task_no, turn_no, attempt, agent, scope, state, runnable_at, worker_no, fence, started_at)
  values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)`;

function insertRun(tx: Connection, task: Task, request: SubmitRequest, now: Instant): RunNo {
  const { id, turnNo, attempt, delayMs } = request.run;
  const { grantTo } = request;
  const lease =
    grantTo === undefined
      ? [RUN_STATE_NUMBERS.queued, instant(now + delayMs), null, null, null]
      : [RUN_STATE_NUMBERS.leased, null, grantTo.workerNo, task.fence, now];
  return tx.insert(INSERT_RUN, id, task.no, turnNo, attempt, task.agent, task.scope, ...lease) as RunNo;
}

function firstGrant(
  task: Task,
  request: SubmitRequest,
  lease: { readonly runNo: RunNo; readonly holder: Holder; readonly started: Grant['events'] },
): Grant {
  const { turnNo, messageId, messageOrdinal, skill, principal, agentVersion } = request.turn;
  const turn: Turn = {
    turnNo,
    state: 'current',
    messageId,
    messageSeq: messageOrdinal as Turn['messageSeq'],
    skill,
    principal,
    agentVersion,
    attempts: 1,
    crashes: 0,
  };
  const { runNo, holder, started } = lease;
  return newGrant(task, { run: request.run, workerNo: holder.workerNo }, { runNo, turn, events: started });
}
