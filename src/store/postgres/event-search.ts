import { assert } from '../../base/assert.ts';
import type { NewEvent, StoredEvent } from '../../model/event.ts';
import type { Seq, TaskNo } from '../../model/ids.ts';
import { decodeEvent, type EventColumns, type EventRow, encodeEvent } from '../sql/event-codec.ts';
import type { PostgresContext } from './postgres-context.ts';

/** Events that others may have appended behind a batch before it was sent again. */
const LATER_EVENTS = 64;

/** The places of events that are known to stand in a task's log, one after the other: the newest ones that are equal to them. */
export async function findEvents(
  context: PostgresContext,
  taskNo: TaskNo,
  wanted: { readonly events: readonly NewEvent[]; readonly headSeq: Seq },
): Promise<readonly StoredEvent[]> {
  const { events, headSeq } = wanted;
  if (events.length === 0) return [];
  const columns = events.map(encodeEvent);
  for (let span = events.length + LATER_EVENTS; ; span *= 8) {
    const rows = await readRows(context, taskNo, { after: headSeq - span, until: headSeq });
    for (let first = rows.length - columns.length; first >= 0; first -= 1) {
      const candidates = rows.slice(first, first + columns.length);
      if (candidates.every((row, index) => isSame(row, columns[index]))) return candidates.map(decodeEvent);
    }
    assert(span < headSeq, 'a batch that was committed stands in the log');
  }
}

/** The events that stand right behind `headSeq`, if they are these. */
export async function eventsAt(
  context: PostgresContext,
  taskNo: TaskNo,
  wanted: { readonly events: readonly NewEvent[]; readonly headSeq: Seq },
): Promise<readonly StoredEvent[] | undefined> {
  const { events, headSeq } = wanted;
  const rows = await readRows(context, taskNo, { after: headSeq, until: headSeq + events.length });
  const isThere = events.length > 0 && events.every((event, index) => isSame(rows[index], encodeEvent(event)));
  return isThere ? rows.map(decodeEvent) : undefined;
}

function isSame(row: EventRow | undefined, columns: EventColumns | undefined): boolean {
  return (
    row !== undefined &&
    row.kind === columns?.kind &&
    row.artifact_id === columns.artifactId &&
    row.payload === columns.payload
  );
}

async function readRows(
  context: PostgresContext,
  taskNo: TaskNo,
  range: { readonly after: number; readonly until: number },
): Promise<readonly EventRow[]> {
  const text = `select e.seq, e.kind, e.artifact_id, e.run_no, e.at, e.payload
    from ${context.d.table('event')} e
    where e.task_no = $1 and e.seq > $2 and e.seq <= $3
    order by e.seq`;
  const [rows] = await context.database.read([{ text, values: [taskNo, range.after, range.until] }]);
  return (rows ?? []) as unknown as readonly EventRow[];
}
