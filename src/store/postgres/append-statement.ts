import type { NewEvent } from '../../model/event.ts';
import { TASK_STATE_NUMBERS } from '../../model/task.ts';
import type { NewDeadline } from '../../model/task-write.ts';
import type { Dialect } from '../sql/dialect.ts';
import { DEADLINE_KIND_NUMBERS } from '../sql/row-codec.ts';
import type { Statement } from './database.ts';
import { insertEvents } from './event-rows.ts';
import { moment, Parameters, unnest } from './parameters.ts';

/** One run's batch among those of other tasks. */
export interface AppendItem {
  readonly taskNo: number;
  readonly fence: number;
  readonly emitNo: number;
  readonly factCount: number;
  readonly events: readonly NewEvent[];
  readonly deadline: NewDeadline | undefined;
}

/**
 * Batches of several tasks as one statement; no task stands in it twice. The tasks are locked in the order of their numbers, and one that another
 * transaction holds is passed over. Fence, emit number and state are compared with the row that is updated. Returns a `MovedRow` for
 * each batch that was written.
 */
export function appendItems(d: Dialect, items: readonly AppendItem[], now: number | null): Statement {
  const p = new Parameters();
  const taskNos = items.map((item) => item.taskNo);
  const text = `with moment as materialized (select ${moment(d, p, now)} as now),
    item as (${itemRows(p, items)}),
    locked as (
      select t.no
      from ${d.table('task')} t
      where t.no = any (${p.add(taskNos, 'bigint[]')})
      order by t.no
      for update skip locked),
    moved as (
      update ${d.table('task')} t
      set ${ASSIGNMENTS.join(', ')}
      from item i
      join locked l on l.no = i.task_no
      cross join moment
      where t.no = i.task_no and t.fence = i.fence and t.emit_no = i.emit_no and t.state = ${TASK_STATE_NUMBERS.working}
      returning t.no, t.head_seq, t.head_at, t.head_seq - i.events as base),
    logged as (${insertEvents(d, p, eventsOf(items))})
    select * from moved`;
  return { text, values: p.values };
}

function itemRows(p: Parameters, items: readonly AppendItem[]): string {
  const rows = unnest(p, 'i', [
    { name: 'task_no', type: 'bigint[]', values: items.map((item) => item.taskNo) },
    { name: 'fence', type: 'bigint[]', values: items.map((item) => item.fence) },
    { name: 'emit_no', type: 'bigint[]', values: items.map((item) => item.emitNo) },
    { name: 'facts', type: 'int[]', values: items.map((item) => item.factCount) },
    { name: 'events', type: 'int[]', values: items.map((item) => item.events.length) },
    { name: 'deadline_ms', type: 'bigint[]', values: items.map((item) => item.deadline?.inMs ?? null) },
    { name: 'deadline_kind', type: 'int[]', values: items.map((item) => kindOf(item.deadline)) },
  ]);
  return `select * from ${rows}`;
}

function kindOf(deadline: NewDeadline | undefined): number | null {
  return deadline === undefined ? null : DEADLINE_KIND_NUMBERS[deadline.kind];
}

const { cancel: CANCEL, total: TOTAL } = DEADLINE_KIND_NUMBERS;
/** A batch without a deadline leaves what is there, and none puts off the end of a canceled task. */
const KEEPS_DEADLINE = `i.deadline_ms is null or t.deadline_kind = ${CANCEL}`;

const ASSIGNMENTS = [
  'head_seq = t.head_seq + i.events',
  'head_at = case when i.events > 0 then greatest(t.head_at, moment.now) else t.head_at end',
  'emit_no = t.emit_no + i.facts',
  `deadline_at = case when ${KEEPS_DEADLINE} then t.deadline_at else least(t.total_at, moment.now + i.deadline_ms) end`,
  `deadline_kind = case when ${KEEPS_DEADLINE} then t.deadline_kind
          when t.total_at < moment.now + i.deadline_ms then ${TOTAL} else i.deadline_kind end`,
];

function eventsOf(items: readonly AppendItem[]) {
  return {
    events: items.flatMap((item) => item.events),
    ordinals: items.flatMap((item) => item.events.map((_event, index) => index + 1)),
    taskNos: items.flatMap((item) => item.events.map(() => item.taskNo)),
  };
}
