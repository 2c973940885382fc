import { assert } from '../../base/assert.ts';
import type { NewEvent } from '../../model/event.ts';
import type { AgentName, RunNo } from '../../model/ids.ts';
import type { Scope } from '../../model/scope.ts';
import { rowEffect } from '../../model/task-fold.ts';
import type { Turn } from '../../model/turn.ts';
import type { SubmitRequest, SubmitResult } from '../contract.ts';
import { grantEvents, placeEvents } from '../place-events.ts';
import { decodeTask, type TaskRow } from '../sql/row-codec.ts';
import { followEvents, followFacts } from './following-rows.ts';
import { findMessage } from './messages.ts';
import { nowOf, type PostgresContext } from './postgres-context.ts';
import { insertTask } from './submit-statement.ts';
import { newGrant } from './task-changes.ts';

export interface ScopePlace {
  readonly agent: AgentName;
  readonly scope: Scope;
}

/** `ScopedStore.submit`. */
export async function submitTask(
  context: PostgresContext,
  place: ScopePlace,
  request: SubmitRequest,
): Promise<SubmitResult> {
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
