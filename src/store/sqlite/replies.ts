import { type Instant, instant } from '../../base/clock.ts';
import type { Fence, MessageId, WorkerNo } from '../../model/ids.ts';
import type { Fingerprint } from '../../model/task-write.ts';
import type { FinishReply, HeldReply, KnownMessage } from '../contract.ts';
import { IDEMPOTENCY_STATE_NUMBERS } from '../sql/row-codec.ts';
import type { Place } from '../sql/task-reads.ts';
import type { Connection } from './connection.ts';
import { writeMemories } from './memory-writes.ts';
import { readKnownMessage } from './submit.ts';

const { executing: EXECUTING, reply: REPLY } = IDEMPOTENCY_STATE_NUMBERS;

const SELECT_HOLDER = `
  select i.state, i.fence, w.no as worker_no
  from idempotency i
  left join worker w on w.no = i.worker_no and w.dead = 0
  where i.agent = ?1 and i.scope = ?2 and i.message_id = ?3`;

/** A row that was there before keeps its fence growing, so that a holder from before an expiry or a drop is never taken for the new one. */
const PUT_HOLDER = `
  insert into idempotency (agent, scope, message_id, fingerprint, fingerprint_version, state, worker_no, fence)
  values (?1, ?2, ?3, ?4, ?5, ${EXECUTING}, ?6, ?7)
  on conflict (agent, scope, message_id) do update
  set fingerprint = excluded.fingerprint, fingerprint_version = excluded.fingerprint_version, state = excluded.state,
    worker_no = excluded.worker_no, fence = excluded.fence, reply = null, expires_at = null`;

export type BeginReplyResult =
  | { readonly kind: 'begun'; readonly fence: Fence }
  | { readonly kind: 'known'; readonly message: KnownMessage };

export function beginReply(
  tx: Connection,
  place: Place,
  request: { readonly messageId: MessageId; readonly fingerprint: Fingerprint; readonly workerNo: WorkerNo },
  now: Instant,
): BeginReplyResult {
  const { messageId, fingerprint, workerNo } = request;
  const holder = tx.one<{ state: number; fence: number | null; worker_no: number | null }>(
    SELECT_HOLDER,
    ...[place.agent, place.scope, messageId],
  );
  const isOrphaned = holder?.state === EXECUTING && holder.worker_no === null;
  const message = isOrphaned ? undefined : readKnownMessage(tx, place, messageId, now);
  if (message !== undefined) return { kind: 'known', message };
  const fence = ((holder?.fence ?? 0) + 1) as Fence;
  const { digest, version } = fingerprint;
  tx.run(PUT_HOLDER, place.agent, place.scope, messageId, digest, version, workerNo, fence);
  return { kind: 'begun', fence };
}

const FINISH = `
  update idempotency
  set state = ${REPLY}, reply = ?5, expires_at = ?6, worker_no = null
  where agent = ?1 and scope = ?2 and message_id = ?3 and state = ${EXECUTING} and fence = ?4`;

export function finishReply(tx: Connection, place: Place, request: FinishReply, now: Instant): boolean {
  const { messageId, fence, reply, keepMs } = request;
  const finished = tx.run(FINISH, place.agent, place.scope, messageId, fence, reply, instant(now + keepMs)) === 1;
  if (finished) writeMemories(tx, place, request.memoryWrites, now);
  return finished;
}

const FORGET_OF_WORKER = `
  update idempotency
  set state = ${REPLY}, reply = '', expires_at = ?5, worker_no = null
  where agent = ?1 and scope = ?2 and message_id = ?3 and state = ${EXECUTING} and worker_no = ?4`;

/** Expired by every clock, also one that steps back. */
const LONG_AGO = 0;

/** An expired reply is as good as no row, and keeps the fence. */
export function dropReply(tx: Connection, place: Place, request: HeldReply): void {
  const key = [place.agent, place.scope, request.messageId] as const;
  if ('fence' in request) tx.run(FINISH, ...key, request.fence, '', LONG_AGO);
  else tx.run(FORGET_OF_WORKER, ...key, request.workerNo, LONG_AGO);
}
