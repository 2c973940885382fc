import type { MessageId } from '../../model/ids.ts';
import type { TaskWrite } from '../../model/task-write.ts';
import type { KnownMessage } from '../contract.ts';
import { selectKnownMessage } from '../sql/message-reads.ts';
import { decodeKnownMessage, type KnownMessageRow } from '../sql/row-codec.ts';
import type { Place } from '../sql/task-reads.ts';
import { isTask, type TaskPlaceKey } from './moved-task.ts';
import { Parameters } from './parameters.ts';
import { nowOf, type PostgresContext } from './postgres-context.ts';

/** What became of a message, if it is still remembered. */
export async function findMessage(
  context: PostgresContext,
  place: Place,
  messageId: MessageId,
): Promise<KnownMessage | undefined> {
  const message = { messageId, now: nowOf(context) };
  const [rows] = await context.database.read([selectKnownMessage(context.d, place, message)]);
  const row = rows?.[0] as KnownMessageRow | undefined;
  return row === undefined ? undefined : decodeKnownMessage(row);
}

/** As `findMessage`, in the agent and scope of a task. */
export async function findMessageOfTask(
  context: PostgresContext,
  key: TaskPlaceKey,
  idempotency: TaskWrite['idempotency'],
): Promise<KnownMessage | undefined> {
  if (idempotency === undefined) return undefined;
  const place = 'taskNo' in key ? await readPlace(context, key) : key;
  return place === undefined ? undefined : findMessage(context, place, idempotency.messageId);
}

async function readPlace(context: PostgresContext, key: TaskPlaceKey): Promise<Place | undefined> {
  const p = new Parameters();
  const text = `select t.agent, t.scope
    from ${context.d.table('task')} t
    where ${isTask(p, key)}`;
  const [rows] = await context.database.read([{ text, values: p.values }]);
  return rows?.[0] as Place | undefined;
}
