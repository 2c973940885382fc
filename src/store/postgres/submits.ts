import { assert } from '../../base/assert.ts';
import type { NewEvent } from '../../model/event.ts';
import type { AgentName, RunNo, Seq, TaskId } from '../../model/ids.ts';
import type { Scope } from '../../model/scope.ts';
import { rowEffect } from '../../model/task-fold.ts';
import type { Turn } from '../../model/turn.ts';
import type { KnownMessage, SubmitRequest, SubmitResult } from '../contract.ts';
import { newGrant } from '../new-grant.ts';
import { grantEvents, placeEvents } from '../place-events.ts';
import { decodeTask, type TaskRow } from '../sql/row-codec.ts';
import { isLost } from './errors.ts';
import { eventsAt } from './event-search.ts';
import { followEvents, followFacts } from './following-rows.ts';
import { readGrants } from './lost-grants.ts';
import { findMessage } from './messages.ts';
import { nowOf, type PostgresContext } from './postgres-context.ts';
import { insertTask } from './submit-statement.ts';
import { readView } from './view-reads.ts';

export interface ScopePlace {
  readonly agent: AgentName;
  readonly scope: Scope;
}

/** `ScopedStore.submit`. Where the answer is lost it is sent again, and knows what it did before by the task's id, which nobody else has. */
export async function submitTask(
  context: PostgresContext,
  place: ScopePlace,
  request: SubmitRequest,
): Promise<SubmitResult> {
  try {
    return await submitOnce(context, place, request);
  } catch (error) {
    if (!isLost(error)) throw error;
  }
  try {
    const done = await findCreated(context, place, request);
    if (done !== undefined) return done;
    // The lost attempt may still be on its way: then this one waits for it and meets its message or its task id.
    const result = await submitOnce(context, place, request).catch((error: unknown) => error as Error);
    const isOwn = result instanceof Error || (result.kind === 'repeated' && isOfTask(result.message, request.taskId));
    const found = isOwn ? await findCreated(context, place, request) : undefined;
    if (found !== undefined) return found;
    if (result instanceof Error) throw result;
    return result;
  } catch (error) {
    if (request.grantTo !== undefined) context.lostGrants.add([request.run.id], request.grantTo);
    throw error;
  }
}

function isOfTask(message: KnownMessage, taskId: TaskId): boolean {
  return message.state === 'task' && message.taskId === taskId;
}

/** What an attempt whose answer was lost has created. */
async function findCreated(
  context: PostgresContext,
  place: ScopePlace,
  request: SubmitRequest,
): Promise<SubmitResult | undefined> {
  const view = await readView(context, { taskId: request.taskId, ...place });
  if (view === undefined) return undefined;
  const events = [...request.events, ...startEvents(request)];
  const stored = await eventsAt(context, view.task.no, { events, headSeq: 0 as Seq });
  if (stored === undefined) return undefined;
  const created = { kind: 'created' as const, task: view.task, events: stored };
  if (request.grantTo === undefined) return created;
  const [grant] = await readGrants(context, [request.run.id], request.grantTo);
  return grant === undefined ? created : { ...created, grant };
}

async function submitOnce(context: PostgresContext, place: ScopePlace, request: SubmitRequest): Promise<SubmitResult> {
  for (;;) {
    const created = await createTask(context, place, request);
    if (created !== undefined) return created;
    assert(request.idempotency !== undefined, 'only a known message stands in the way of a task');
    const message = await findMessage(context, place, request.idempotency.messageId);
    // Forgotten between the two statements: a reply that failed, or whose time ran out.
    if (message !== undefined) return { kind: 'repeated', message };
  }
}

async function createTask(
  context: PostgresContext,
  place: ScopePlace,
  request: SubmitRequest,
): Promise<SubmitResult | undefined> {
  const { d } = context;
  const key = { taskId: request.taskId, ...place };
  const started = startEvents(request);
  const events = [...request.events, ...started];
  const messageSeq = request.turn.messageOrdinal;
  const [rows] = await context.database.write([
    insertTask(d, { place, request, events, messageSeq, now: nowOf(context) }),
    ...followEvents(d, key, events),
    ...followFacts(d, key, { journal: [], sessionState: new Map(), blobs: request.blobs }, 0),
  ]);
  const row = rows?.[0];
  if (row === undefined) return undefined;
  const task = decodeTask(row as unknown as TaskRow);
  const stored = placeEvents(events, { headSeq: 0, at: task.headAt });
  const { grantTo } = request;
  if (grantTo === undefined) return { kind: 'created', task, events: stored };
  const lease = { run: request.run, workerNo: grantTo.workerNo };
  const turn = firstTurn(request);
  const grant = newGrant(task, lease, { runNo: row.run_no as RunNo, turn, events: stored.slice(-started.length) });
  return { kind: 'created', task, events: stored, grant };
}

function startEvents({ grantTo, run, events }: SubmitRequest): readonly NewEvent[] {
  if (grantTo === undefined) return [];
  return grantEvents({ state: rowEffect(events).status?.state ?? 'submitted' }, { ...run, workerId: grantTo.workerId });
}

/** The turn as the grant left it. */
function firstTurn({ turn }: SubmitRequest): Turn {
  return {
    turnNo: turn.turnNo,
    state: 'current',
    messageId: turn.messageId,
    messageSeq: turn.messageOrdinal as Turn['messageSeq'],
    skill: turn.skill,
    principal: turn.principal,
    agentVersion: turn.agentVersion,
    attempts: 1,
    crashes: 0,
  };
}
