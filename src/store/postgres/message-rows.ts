import type { MessageId, Seq, TurnNo } from '../../model/ids.ts';
import type { Fingerprint } from '../../model/task-write.ts';
import type { Dialect } from '../sql/dialect.ts';
import { IDEMPOTENCY_STATE_NUMBERS } from '../sql/row-codec.ts';
import type { Statement } from './database.ts';
import { isTask, isWrittenHere, type TaskPlaceKey } from './moved-task.ts';
import { moment, Parameters } from './parameters.ts';

/** A message that a change of a task answers for. */
export interface RememberedMessage {
  readonly messageId: MessageId;
  readonly fingerprint: Fingerprint;
  readonly turnNo: TurnNo;
  readonly messageSeq: Seq;
}

/** What takes the row of a reply whose time is over; every other row stays, and whoever meets it reads it in a statement of its own. */
export function takeExpiredReply(d: Dialect, p: Parameters, now: number | null): string {
  return `on conflict (agent, scope, message_id) do update
    set fingerprint = excluded.fingerprint, fingerprint_version = excluded.fingerprint_version, state = excluded.state,
      task_no = excluded.task_no, turn_no = excluded.turn_no, message_seq = excluded.message_seq,
      worker_no = excluded.worker_no, fence = excluded.fence, reply = null, expires_at = null
    where idempotency.state = ${IDEMPOTENCY_STATE_NUMBERS.reply} and idempotency.expires_at <= ${moment(d, p, now)}`;
}

/**
 * Remembers a message before the task is changed: the order in which all of this adapter takes its locks. Of several at once
 * one gets the row, the others wait for it to commit. Nothing where the message is known.
 */
export function rememberMessage(
  d: Dialect,
  key: TaskPlaceKey,
  message: RememberedMessage,
  now: number | null,
): Statement {
  const p = new Parameters();
  const text = `insert into ${d.table('idempotency')}
      (agent, scope, message_id, fingerprint, fingerprint_version, state, task_no, turn_no, message_seq)
    select t.agent, t.scope, ${p.add(message.messageId)}, ${p.add(message.fingerprint.digest)}, ${p.add(message.fingerprint.version)},
      ${IDEMPOTENCY_STATE_NUMBERS.task}, t.no, ${p.add(message.turnNo)}, ${p.add(message.messageSeq)}
    from ${d.table('task')} t
    where ${isTask(p, key)}
    ${takeExpiredReply(d, p, now)}
    returning message_id`;
  return { text, values: p.values };
}

/** The condition on `task t` that this transaction remembered the message. */
export function isRememberedHere(d: Dialect, p: Parameters, messageId: MessageId): string {
  return `exists (
      select 1
      from ${d.table('idempotency')} i
      where i.agent = t.agent and i.scope = t.scope and i.message_id = ${p.add(messageId)} and ${isWrittenHere('i')})`;
}

/** Forgets a message that this transaction remembered for a change that then did not happen. */
export function forgetMessage(d: Dialect, key: TaskPlaceKey, messageId: MessageId): Statement {
  const p = new Parameters();
  const text = `delete from ${d.table('idempotency')} i
    using ${d.table('task')} t
    where ${isTask(p, key)} and not ${isWrittenHere('t')}
      and i.agent = t.agent and i.scope = t.scope and i.message_id = ${p.add(messageId)} and ${isWrittenHere('i')}`;
  return { text, values: p.values };
}
