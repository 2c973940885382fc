import type { Dialect, Statement } from './dialect.ts';
import { IDEMPOTENCY_STATE_NUMBERS } from './row-codec.ts';
import type { Place } from './task-reads.ts';

/** A `KnownMessageRow`. A reply that has expired is not known any more. */
export function selectKnownMessage(
  d: Dialect,
  place: Place,
  message: { readonly messageId: string; readonly now: number | null },
): Statement {
  const text = `select i.fingerprint, i.fingerprint_version, i.state, i.task_no, i.turn_no, i.message_seq, i.reply, t.id as task_id
    from ${d.table('idempotency')} i
    left join ${d.table('task')} t on t.no = i.task_no
    where i.agent = ${d.param(1)} and i.scope = ${d.param(2)} and i.message_id = ${d.param(3)}
      and not (i.state = ${IDEMPOTENCY_STATE_NUMBERS.reply} and i.expires_at <= ${d.moment(4)})`;
  return { text, values: [place.agent, place.scope, message.messageId, message.now] };
}
