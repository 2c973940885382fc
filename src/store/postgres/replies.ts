import type { Fence, MessageId, WorkerNo } from '../../model/ids.ts';
import type { Fingerprint } from '../../model/task-write.ts';
import type { FinishReply, ScopedStore } from '../contract.ts';
import type { Dialect } from '../sql/dialect.ts';
import { IDEMPOTENCY_STATE_NUMBERS } from '../sql/row-codec.ts';
import type { Place } from '../sql/task-reads.ts';
import type { Statement } from './database.ts';
import { writeMemories } from './memory-rows.ts';
import { findMessage } from './messages.ts';
import { isWrittenHere } from './moved-task.ts';
import { moment, Parameters } from './parameters.ts';
import { nowOf, type PostgresContext } from './postgres-context.ts';

const { executing: EXECUTING, reply: REPLY } = IDEMPOTENCY_STATE_NUMBERS;

interface BeginReply {
  readonly messageId: MessageId;
  readonly fingerprint: Fingerprint;
  readonly workerNo: WorkerNo;
}

/** `ScopedStore.beginReply`: one insert, which takes over the row of a dead worker and of a reply whose time is over. */
export async function beginReply(
  context: PostgresContext,
  place: Place,
  request: BeginReply,
): ReturnType<ScopedStore['beginReply']> {
  for (;;) {
    const [rows] = await context.database.write([holdMessage(context.d, place, request, nowOf(context))]);
    const row = rows?.[0];
    if (row !== undefined) return { kind: 'begun', fence: row.fence as Fence };
    const message = await findMessage(context, place, request.messageId);
    // Forgotten between the two statements: try again.
    if (message !== undefined) return { kind: 'known', message };
  }
}

function holdMessage(d: Dialect, place: Place, request: BeginReply, now: number | null): Statement {
  const p = new Parameters();
  const text = `insert into ${d.table('idempotency')} as i
      (agent, scope, message_id, fingerprint, fingerprint_version, state, worker_no, fence)
    values (${p.add(place.agent)}, ${p.add(place.scope)}, ${p.add(request.messageId)}, ${p.add(request.fingerprint.digest)},
      ${p.add(request.fingerprint.version)}, ${EXECUTING}, ${p.add(request.workerNo)}, 1)
    on conflict (agent, scope, message_id) do update
    set fingerprint = excluded.fingerprint, fingerprint_version = excluded.fingerprint_version, state = excluded.state,
      worker_no = excluded.worker_no, fence = coalesce(i.fence, 0) + 1, reply = null, expires_at = null
    where (i.state = ${REPLY} and i.expires_at <= ${moment(d, p, now)})
      or (i.state = ${EXECUTING} and not exists (
        select 1 from ${d.table('worker')} w where w.no = i.worker_no and w.dead = 0))
    returning i.fence`;
  return { text, values: p.values };
}

/** `ScopedStore.finishReply`. The memories are written only where the row was still held. */
export async function finishReply(context: PostgresContext, place: Place, request: FinishReply): Promise<boolean> {
  const { d, database } = context;
  const now = nowOf(context);
  const guard = (p: Parameters): string => isAnsweredHere(d, p, place, request.messageId);
  const [rows] = await database.write([
    storeReply(d, place, request, now),
    ...writeMemories(d, place, request.memoryWrites, { now, guard }),
  ]);
  return rows?.length === 1;
}

function storeReply(d: Dialect, place: Place, request: FinishReply, now: number | null): Statement {
  const p = new Parameters();
  const text = `update ${d.table('idempotency')} i
    set state = ${REPLY}, reply = ${p.add(request.reply)}, expires_at = ${moment(d, p, now)} + ${p.add(request.keepMs, 'bigint')},
      worker_no = null, fence = null
    where ${isHeld(p, place, request)}
    returning i.message_id`;
  return { text, values: p.values };
}

/** `ScopedStore.dropReply`. */
export async function dropReply(
  context: PostgresContext,
  place: Place,
  held: { readonly messageId: MessageId; readonly fence: Fence },
): Promise<void> {
  const p = new Parameters();
  const text = `delete from ${context.d.table('idempotency')} i where ${isHeld(p, place, held)}`;
  await context.database.write([{ text, values: p.values }], { repeatable: true });
}

function isHeld(p: Parameters, place: Place, held: { readonly messageId: MessageId; readonly fence: Fence }): string {
  return `i.agent = ${p.add(place.agent)} and i.scope = ${p.add(place.scope)} and i.message_id = ${p.add(held.messageId)}
      and i.state = ${EXECUTING} and i.fence = ${p.add(held.fence)}`;
}

function isAnsweredHere(d: Dialect, p: Parameters, place: Place, messageId: MessageId): string {
  return `exists (
      select 1
      from ${d.table('idempotency')} i
      where i.agent = ${p.add(place.agent)} and i.scope = ${p.add(place.scope)} and i.message_id = ${p.add(messageId)}
        and ${isWrittenHere('i')})`;
}
