import type { NewEvent } from '../../model/event.ts';
import type { Fence } from '../../model/ids.ts';
import { RUN_STATE_NUMBERS } from '../../model/run.ts';
import { TASK_STATE_NUMBERS } from '../../model/task.ts';
import { rowEffect } from '../../model/task-fold.ts';
import type { NewDeadline } from '../../model/task-write.ts';
import { TURN_STATE_NUMBERS } from '../../model/turn.ts';
import type { SubmitRequest } from '../contract.ts';
import type { Dialect } from '../sql/dialect.ts';
import { DEADLINE_KIND_NUMBERS, IDEMPOTENCY_STATE_NUMBERS } from '../sql/row-codec.ts';
import { type Place, TASK_COLUMNS } from '../sql/task-reads.ts';
import type { Statement } from './database.ts';
import { insertEvents } from './event-rows.ts';
import { takeExpiredReply } from './message-rows.ts';
import { moment, Parameters } from './parameters.ts';

/** A submit, with all events of the new task, those of its grant too. */
export interface NewTaskRows {
  readonly place: Place;
  readonly request: SubmitRequest;
  readonly events: readonly NewEvent[];
  readonly messageSeq: number;
  readonly now: number | null;
}

/**
 * Message, session, task, turn, run and events as one statement, so that one round trip and one lock each will do. Returns a `TaskRow` with `run_no`;
 * nothing, and nothing written, where the message is known.
 *
 * Each part reads from the one before, which fixes the order of the locks. The task's number is drawn first, because the message
 * names it; foreign keys are checked when the statement is over. A session that another transaction opens at the same
 * moment is not visible here, so the insert that meets it returns it by an update that changes nothing.
 */
export function insertTask(d: Dialect, rows: NewTaskRows): Statement {
  const p = new Parameters();
  const text = `with number as materialized (
      select nextval(pg_get_serial_sequence('${d.table('task')}', 'no')) as no, ${moment(d, p, rows.now)} as now),
    known as (${insertMessage(d, p, rows)}),
    ${findSession(d, p, rows)},
    created as (${insertTaskRow(d, p, rows)}),
    moved as (select c.no, 0::bigint as base, c.head_at from created c),
    begun as (${insertTurnRow(d, p, rows)}),
    queued as (${insertRunRow(d, p, rows.request)}),
    logged as (${insertEvents(d, p, { events: rows.events, ordinals: rows.events.map((_event, index) => index + 1) })})
    select ${TASK_COLUMNS}, q.no as run_no
    from created t
    join place s on s.no = t.session_no
    cross join queued q`;
  return { text, values: p.values };
}

function insertMessage(d: Dialect, p: Parameters, { place, request, messageSeq, now }: NewTaskRows): string {
  const { idempotency, turn } = request;
  if (idempotency === undefined) return 'select n.no as task_no from number n';
  return `insert into ${d.table('idempotency')}
        (agent, scope, message_id, fingerprint, fingerprint_version, state, task_no, turn_no, message_seq)
      select ${p.add(place.agent)}, ${p.add(place.scope)}, ${p.add(idempotency.messageId)}, ${p.add(idempotency.fingerprint.digest)},
        ${p.add(idempotency.fingerprint.version)}, ${IDEMPOTENCY_STATE_NUMBERS.task}, n.no, ${p.add(turn.turnNo)}, ${p.add(messageSeq)}
      from number n
      ${takeExpiredReply(d, p, now)}
      returning task_no`;
}

/** `place`: the session's row, whether it was there or is opened now. */
function findSession(d: Dialect, p: Parameters, { place, request }: NewTaskRows): string {
  const agent = p.add(place.agent, 'text');
  const scope = p.add(place.scope, 'text');
  const contextId = p.add(request.contextId, 'text');
  return `existing as materialized (
      select no, context_id, thread_id
      from ${d.table('session')}
      where agent = ${agent} and scope = ${scope} and context_id = ${contextId}),
    opened as (
      insert into ${d.table('session')} (agent, scope, context_id, thread_id, created_at)
      select ${agent}, ${scope}, ${contextId}, ${p.add(request.threadId)}, n.now
      from known
      cross join number n
      where not exists (select 1 from existing)
      on conflict (agent, scope, context_id) do update set agent = excluded.agent
      returning no, context_id, thread_id),
    place as (
      select no, context_id, thread_id from existing
      union all
      select no, context_id, thread_id from opened)`;
}

function insertTaskRow(d: Dialect, p: Parameters, rows: NewTaskRows): string {
  const { place, request, events } = rows;
  const effect = rowEffect(events);
  const deadline = firstDeadline(request);
  const columns: readonly (readonly [string, string])[] = [
    ['no', 'n.no'],
    ['id', p.add(request.taskId)],
    ['agent', p.add(place.agent)],
    ['scope', p.add(place.scope)],
    ['session_no', 's.no'],
    ['state', `${TASK_STATE_NUMBERS[effect.status?.state ?? 'submitted']}`],
    ['state_at', 'n.now'],
    ['status_seq', p.add(effect.status?.ordinal ?? 0)],
    ['head_seq', p.add(events.length)],
    ['head_at', 'n.now'],
    ['generation', p.add(effect.statusCount)],
    ['created_at', 'n.now'],
    ['turn_no', p.add(effect.turnNo ?? request.turn.turnNo)],
    ['fence', `${fenceOf(request)}`],
    ['deadline_at', deadline === undefined ? 'null' : `n.now + ${p.add(deadline.inMs, 'bigint')}`],
    ['deadline_kind', deadline === undefined ? 'null' : `${DEADLINE_KIND_NUMBERS[deadline.kind]}`],
    ['total_at', request.totalMs === undefined ? 'null' : `n.now + ${p.add(request.totalMs, 'bigint')}`],
    ['trace', p.add(request.trace ?? null)],
    ['metadata', p.add(request.metadata === undefined ? null : JSON.stringify(request.metadata))],
  ];
  return `insert into ${d.table('task')} (${columns.map(([name]) => name).join(', ')})
      overriding system value
      select ${columns.map(([, value]) => value).join(', ')}
      from known
      cross join number n
      cross join place s
      returning *`;
}

/** The nearer of the first deadline and the total; both count from now. */
function firstDeadline({ deadline, totalMs }: SubmitRequest): NewDeadline | undefined {
  if (totalMs !== undefined && (deadline === undefined || totalMs < deadline.inMs))
    return { kind: 'total', inMs: totalMs };
  return deadline;
}

/** A grant is the first of a new task. */
function fenceOf(request: SubmitRequest): Fence {
  return (request.grantTo === undefined ? 0 : 1) as Fence;
}

function insertTurnRow(d: Dialect, p: Parameters, { request, messageSeq }: NewTaskRows): string {
  const { turn } = request;
  return `insert into ${d.table('turn')}
        (task_no, turn_no, message_id, message_seq, state, skill, principal, agent_version, input, attempts)
      select c.no, ${p.add(turn.turnNo)}, ${p.add(turn.messageId)}, ${p.add(messageSeq)}, ${TURN_STATE_NUMBERS.current},
        ${p.add(turn.skill)}, ${p.add(JSON.stringify(turn.principal))}, ${p.add(turn.agentVersion)}, ${p.add(turn.input ?? null)},
        ${request.grantTo === undefined ? 0 : 1}
      from created c`;
}

function insertRunRow(d: Dialect, p: Parameters, { run, grantTo, ...request }: SubmitRequest): string {
  const columns: readonly (readonly [string, string])[] = [
    ['id', p.add(run.id)],
    ['task_no', 'c.no'],
    ['turn_no', p.add(run.turnNo)],
    ['attempt', p.add(run.attempt)],
    ['agent', 'c.agent'],
    ['scope', 'c.scope'],
    ...(grantTo === undefined
      ? [
          ['state', `${RUN_STATE_NUMBERS.queued}`] as const,
          ['runnable_at', `c.created_at + ${p.add(run.delayMs, 'bigint')}`] as const,
        ]
      : [
          ['state', `${RUN_STATE_NUMBERS.leased}`] as const,
          ['worker_no', p.add(grantTo.workerNo)] as const,
          ['fence', `${fenceOf({ ...request, run, grantTo })}`] as const,
          ['started_at', 'c.head_at'] as const,
        ]),
  ];
  return `insert into ${d.table('run')} (${columns.map(([name]) => name).join(', ')})
      select ${columns.map(([, value]) => value).join(', ')}
      from created c
      returning no`;
}
