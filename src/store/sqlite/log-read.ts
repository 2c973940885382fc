import type { StoredEvent } from '../../model/event.ts';
import type { Seq, TaskNo } from '../../model/ids.ts';
import { decodeEvent, type EventRow } from '../sql/event-codec.ts';
import type { Connection } from './connection.ts';

const SELECT_EVENTS = `
  select seq, kind, artifact_id, run_no, at, bytes, payload
  from event
  where task_no = ?1 and seq > ?2
  order by seq
  limit ?3`;

const SELECT_EXISTS = 'select 1 as found from task where no = ?1';

/** Inside a read of one moment. */
export function readEvents(
  db: Connection,
  taskNo: TaskNo,
  range: { readonly after: Seq; readonly eventsMax: number; readonly bytesMax: number },
): readonly StoredEvent[] | undefined {
  const events: StoredEvent[] = [];
  let bytes = 0;
  for (const row of db.eachRaw<EventRow & { readonly bytes: number }>(
    SELECT_EVENTS,
    ...[taskNo, range.after, range.eventsMax],
  )) {
    events.push(decodeEvent(row));
    bytes += row.bytes;
    if (bytes > range.bytesMax) break;
  }
  if (events.length === 0 && db.one(SELECT_EXISTS, taskNo) === undefined) return undefined;
  return events;
}

/** A task that is asked for twice is told once, if either place is behind. */
const SELECT_HEADS = `
  select a.task_no, coalesce(t.head_seq, 0) as head_seq, t.cancel_at is not null as cancel_requested
  from (
    select value ->> 0 as task_no, min(value ->> 1) as seq
    from json_each(?1)
    group by 1
  ) a
  left join task t on t.no = a.task_no
  where t.no is null or t.head_seq > a.seq`;

export interface Head {
  readonly taskNo: TaskNo;
  readonly headSeq: Seq;
  readonly cancelRequested: boolean;
}

export function readHeads(
  db: Connection,
  tasks: readonly { readonly taskNo: TaskNo; readonly seq: Seq }[],
): readonly Head[] {
  const places = JSON.stringify(tasks.map(({ taskNo, seq }) => [taskNo, seq]));
  const rows = db.allRaw<{ task_no: number; head_seq: number; cancel_requested: number }>(SELECT_HEADS, places);
  return rows.map((row) => ({
    taskNo: row.task_no as TaskNo,
    headSeq: row.head_seq as Seq,
    cancelRequested: row.cancel_requested === 1,
  }));
}
