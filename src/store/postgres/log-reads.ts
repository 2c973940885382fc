import type { StoredEvent } from '../../model/event.ts';
import type { Seq, TaskNo } from '../../model/ids.ts';
import type { SystemStore } from '../contract.ts';
import { decodeEvent, type EventRow } from '../sql/event-codec.ts';
import type { PostgresContext } from './postgres-context.ts';
import { readGuards } from './task-guards.ts';

type EventRange = Parameters<SystemStore['readEvents']>[1];

/** `SystemStore.readEvents`. Only the payloads that are answered with leave the server. */
export async function readEvents(
  context: PostgresContext,
  taskNo: TaskNo,
  range: EventRange,
): Promise<readonly StoredEvent[] | undefined> {
  const event = context.d.table('event');
  const text = `with page as (
      select e.seq, sum(e.bytes) over (order by e.seq) - e.bytes as bytes_before
      from ${event} e
      where e.task_no = $1 and e.seq > $2
      order by e.seq
      limit $3)
    select e.seq, e.kind, e.artifact_id, e.run_no, e.at, e.payload
    from page p
    join ${event} e on e.task_no = $1 and e.seq = p.seq
    where p.bytes_before < $4 or p.bytes_before = 0
    order by e.seq`;
  const values = [taskNo, range.after, range.eventsMax, range.bytesMax];
  const [rows] = await context.database.read([{ text, values }]);
  if (rows === undefined || rows.length === 0) {
    return (await readGuards(context, { taskNo })) === undefined ? undefined : [];
  }
  return rows.map((row) => decodeEvent(row as unknown as EventRow));
}

type Heads = Awaited<ReturnType<SystemStore['readHeads']>>;

/** `SystemStore.readHeads`. Asked twice for one task, it answers by the lesser place. */
export async function readHeads(
  context: PostgresContext,
  tasks: Parameters<SystemStore['readHeads']>[0],
): Promise<Heads> {
  if (tasks.length === 0) return [];
  const text = `select k.task_no, coalesce(t.head_seq, 0) as head_seq, t.cancel_at is not null as cancel_requested
    from (
      select i.task_no, min(i.seq) as seq
      from unnest($1::bigint[], $2::bigint[]) as i (task_no, seq)
      group by i.task_no) k
    left join ${context.d.table('task')} t on t.no = k.task_no
    where t.no is null or t.head_seq > k.seq`;
  const values = [tasks.map(({ taskNo }) => taskNo), tasks.map(({ seq }) => seq)];
  const [rows] = await context.database.read([{ text, values }]);
  return (rows ?? []).map((row) => ({
    taskNo: row.task_no as TaskNo,
    headSeq: row.head_seq as Seq,
    cancelRequested: row.cancel_requested === true,
  }));
}
