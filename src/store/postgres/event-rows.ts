import { assert } from '../../base/assert.ts';
import type { NewEvent } from '../../model/event.ts';
import type { Dialect } from '../sql/dialect.ts';
import { encodeEvent } from '../sql/event-codec.ts';
import { type Parameters, unnest } from './parameters.ts';

/** Events to insert: each with its place among its task's new events, and with several tasks, whose it is. */
export interface EventList {
  readonly events: readonly NewEvent[];
  readonly ordinals: readonly number[];
  readonly taskNos?: readonly number[];
}

/**
 * `insert into event` for tasks that a CTE named `moved` has just moved. Of it, it reads `no`, `head_at` and
 * `base`, the head before: an event's seq is `base` and its ordinal.
 *
 * Payloads travel as one text, a line each: JSON has no line break outside an escape. As an array parameter each
 * would be quoted here and unquoted there.
 */
export function insertEvents(d: Dialect, p: Parameters, list: EventList): string {
  const rows = list.events.map(encodeEvent);
  assert(rows.length > 0 && !rows.some((row) => row.payload.includes('\n')), 'a payload is one line of JSON');
  const lines = p.add(rows.map((row) => row.payload).join('\n'), 'text');
  const source = unnest(p, 'e', [
    { name: 'ordinal', type: 'int[]', values: list.ordinals },
    { name: 'run_no', type: 'bigint[]', values: rows.map((row) => row.runNo) },
    { name: 'kind', type: 'int[]', values: rows.map((row) => row.kind) },
    { name: 'audience', type: 'int[]', values: rows.map((row) => row.audience) },
    { name: 'artifact_id', type: 'text[]', values: rows.map((row) => row.artifactId) },
    { name: 'bytes', type: 'int[]', values: rows.map((row) => Buffer.byteLength(row.payload)) },
    { name: 'payload', sql: `string_to_array(${lines}, E'\\n')` },
    ...(list.taskNos === undefined ? [] : [{ name: 'task_no', type: 'bigint[]' as const, values: list.taskNos }]),
  ]);
  return `insert into ${d.table('event')}
      (task_no, seq, seq_first, run_no, kind, audience, artifact_id, at, bytes, payload)
    select m.no, m.base + e.ordinal, m.base + e.ordinal, e.run_no, e.kind, e.audience, e.artifact_id, m.head_at, e.bytes, e.payload
    from moved m
    join ${source} on ${list.taskNos === undefined ? 'true' : 'e.task_no = m.no'}`;
}
