import type { Fence, MessageId, WorkerNo } from '../../model/ids.ts';
import type { Fingerprint } from '../../model/task-write.ts';
import type { FinishReply, HeldReply, ScopedStore } from '../contract.ts';
import type { Dialect } from '../sql/dialect.ts';
import { IDEMPOTENCY_STATE_NUMBERS } from '../sql/row-codec.ts';
import type { Place } from '../sql/task-reads.ts';
import type { Statement } from './database.ts';
import { isLost } from './errors.ts';
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

/**
 * `ScopedStore.beginReply`: one insert, which takes over the row of a dead worker and of a reply whose time is over. Where its answer is lost,
 * the row tells whose it is.
 */
export async function beginReply(
  context: PostgresContext,
  place: Place,
  request: BeginReply,
): ReturnType<ScopedStore['beginReply']> {
  const token = Math.floor(context.random.fraction() * TOKENS);
  for (let wasLost = false; ; ) {
    const [rows] = await context.database.write([holdMessage(context, place, { ...request, token })]).catch((error) => {
      if (wasLost || !isLost(error)) throw error;
      wasLost = true;
      return [undefined];
    });
    const fence = rows?.[0]?.fence ?? (wasLost ? await readOwnFence(context, place, { ...request, token }) : undefined);
    if (fence !== undefined) return { kind: 'begun', fence: fence as Fence };
    const message = await findMessage(context, place, request.messageId);
    // Forgotten between the two statements, or never written: try again.
    if (message !== undefined) return { kind: 'known', message };
  }
}

/**
 * A fence is a count of the holders and, below it, a token of the one who took it: so a caller knows its own, and one whose row was dropped and
 * taken by another does not find its old number again.
 */
const TOKEN_BITS = 30;
const TOKENS = 2 ** TOKEN_BITS;

type HoldRequest = BeginReply & { readonly token: number };

function holdMessage(context: PostgresContext, place: Place, request: HoldRequest): Statement {
  const { d } = context;
  const p = new Parameters();
  const token = p.add(request.token, 'bigint');
  const text = `insert into ${d.table('idempotency')} as i
      (agent, scope, message_id, fingerprint, fingerprint_version, state, worker_no, fence)
    values (${p.add(place.agent)}, ${p.add(place.scope)}, ${p.add(request.messageId)}, ${p.add(request.fingerprint.digest)},
      ${p.add(request.fingerprint.version)}, ${EXECUTING}, ${p.add(request.workerNo)}, ${TOKENS} + ${token})
    on conflict (agent, scope, message_id) do update
    set fingerprint = excluded.fingerprint, fingerprint_version = excluded.fingerprint_version, state = excluded.state,
      worker_no = excluded.worker_no, reply = null, expires_at = null,
      fence = (((coalesce(i.fence, 0) >> ${TOKEN_BITS}) + 1) << ${TOKEN_BITS}) + ${token}
    where (i.state = ${REPLY} and i.expires_at <= ${moment(d, p, nowOf(context))})
      or (i.state = ${EXECUTING} and not exists (
        select 1 from ${d.table('worker')} w where w.no = i.worker_no and w.dead = 0))
    returning i.fence`;
  return { text, values: p.values };
}

/** The fence of a row that this very call holds. */
async function readOwnFence(context: PostgresContext, place: Place, request: HoldRequest): Promise<unknown> {
  const p = new Parameters();
  const text = `select i.fence
    from ${context.d.table('idempotency')} i
    where i.agent = ${p.add(place.agent)} and i.scope = ${p.add(place.scope)} and i.message_id = ${p.add(request.messageId)}
      and i.state = ${EXECUTING} and i.worker_no = ${p.add(request.workerNo)} and i.fence & ${TOKENS - 1} = ${p.add(request.token, 'bigint')}`;
  const [rows] = await context.database.read([{ text, values: p.values }]);
  return rows?.[0]?.fence;
}

/**
 * `ScopedStore.finishReply`. The memories are written only where the row was still held. Where the answer is lost and the row is not held any
 * more, the reply that stands there tells whether it is this one.
 */
export async function finishReply(context: PostgresContext, place: Place, request: FinishReply): Promise<boolean> {
  const { d, database } = context;
  const now = nowOf(context);
  const guard = (p: Parameters): string => isAnsweredHere(d, p, place, request.messageId);
  const statements = [
    storeReply(d, place, request, now),
    ...writeMemories(d, place, request.memoryWrites, { now, guard }),
  ];
  const finish = async (): Promise<boolean> => (await database.write(statements))[0]?.length === 1;
  try {
    return await finish();
  } catch (error) {
    if (!isLost(error)) throw error;
  }
  if (await finish()) return true;
  const message = await findMessage(context, place, request.messageId);
  return message?.state === 'reply' && message.reply === request.reply;
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
export async function dropReply(context: PostgresContext, place: Place, held: HeldReply): Promise<void> {
  const p = new Parameters();
  const text = `delete from ${context.d.table('idempotency')} i where ${isHeld(p, place, held)}`;
  await context.database.write([{ text, values: p.values }], { repeatable: true });
}

function isHeld(p: Parameters, place: Place, held: HeldReply): string {
  return `i.agent = ${p.add(place.agent)} and i.scope = ${p.add(place.scope)} and i.message_id = ${p.add(held.messageId)}
      and i.state = ${EXECUTING} and ${'fence' in held ? `i.fence = ${p.add(held.fence)}` : `i.worker_no = ${p.add(held.workerNo)}`}`;
}

function isAnsweredHere(d: Dialect, p: Parameters, place: Place, messageId: MessageId): string {
  return `exists (
      select 1
      from ${d.table('idempotency')} i
      where i.agent = ${p.add(place.agent)} and i.scope = ${p.add(place.scope)} and i.message_id = ${p.add(messageId)}
        and ${isWrittenHere('i')})`;
}
