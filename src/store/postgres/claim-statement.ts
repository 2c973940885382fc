import { AUDIENCE_NUMBERS, EVENT_KIND_NUMBERS, type NewEvent } from '../../model/event.ts';
import type { WorkerNo } from '../../model/ids.ts';
import { RUN_STATE_NUMBERS } from '../../model/run.ts';
import { TASK_STATE_NUMBERS } from '../../model/task.ts';
import type { NewDeadline } from '../../model/task-write.ts';
import type { Dialect } from '../sql/dialect.ts';
import { encodeEvent } from '../sql/event-codec.ts';
import { DEADLINE_KIND_NUMBERS } from '../sql/row-codec.ts';
import { TASK_COLUMNS } from '../sql/task-reads.ts';
import type { Candidate } from './claim-candidates.ts';
import type { Statement } from './database.ts';
import { moment, Parameters } from './parameters.ts';
import { nearestDeadline } from './task-update.ts';
import { PREFIXED_TURN_COLUMNS } from './turn-rows.ts';

export interface ClaimRows {
  readonly candidates: readonly Candidate[];
  /** `run-started` of each candidate, in their order. */
  readonly started: readonly NewEvent[];
  readonly workerNo: WorkerNo;
  readonly runsMax: number;
  readonly deadline: NewDeadline | undefined;
  readonly now: number | null;
}

const { queued: QUEUED, leased: LEASED } = RUN_STATE_NUMBERS;
const { submitted: SUBMITTED, working: WORKING } = TASK_STATE_NUMBERS;

/**
 * Grants up to `runsMax` of the candidates, as one statement. The tasks are locked in the order of their numbers, and one that another
 * transaction holds is passed over: it will be found again. A run's fence comes from the locked row, never from a second
 * reading of the task, which may be older. Returns for each grant, in the order of the candidates, the `TaskRow`, `run_no`,
 * `state_before`, and the columns of its `TurnRow` with `turn_` before their names.
 */
export function grantRuns(d: Dialect, rows: ClaimRows): Statement {
  const p = new Parameters();
  const text = `with moment as materialized (select ${moment(d, p, rows.now)} as now),
    candidate as (${candidateRows(p, rows)}),
    locked as (
      select t.no, t.fence, t.state, t.head_at
      from ${d.table('task')} t
      where t.no = any (${p.add(taskNos(rows), 'bigint[]')})
      order by t.no
      for update skip locked),
    chosen as (
      select c.run_no, c.started, c.place, t.fence + 1 as fence, t.state, greatest(t.head_at, moment.now) as at
      from candidate c
      join locked t on t.no = c.task_no
      join ${d.table('run')} r on r.no = c.run_no and r.state = ${QUEUED}
      cross join moment
      order by c.place
      limit ${p.add(rows.runsMax, 'int')}),
    leased as (
      update ${d.table('run')} r
      set state = ${LEASED}, worker_no = ${p.add(rows.workerNo)}, fence = c.fence, started_at = c.at, runnable_at = null
      from chosen c
      where r.no = c.run_no and r.state = ${QUEUED}
      returning r.no as run_no, r.task_no, r.turn_no, c.started, c.place, c.state, c.at),
    moved as (${moveGranted(d, p, rows)}),
    counted as (
      update ${d.table('turn')} u
      set attempts = u.attempts + 1
      from leased l
      where u.task_no = l.task_no and u.turn_no = l.turn_no
      returning u.task_no as granted_task_no, ${PREFIXED_TURN_COLUMNS}),
    logged as (${logGranted(d, p)})
    select m.*, l.run_no, l.state as state_before, u.*
    from moved m
    join leased l on l.task_no = m.no
    join counted u on u.granted_task_no = m.no
    order by l.place`;
  return { text, values: p.values };
}

function taskNos({ candidates }: ClaimRows): readonly number[] {
  return candidates.map((candidate) => candidate.task_no);
}

function candidateRows(p: Parameters, rows: ClaimRows): string {
  const runNos = p.add(
    rows.candidates.map((candidate) => candidate.run_no),
    'bigint[]',
  );
  const payloads = rows.started.map((event) => encodeEvent(event).payload).join('\n');
  return `select c.run_no, c.task_no, c.started, c.place
      from unnest(${runNos}, ${p.add(taskNos(rows), 'bigint[]')}, string_to_array(${p.add(payloads, 'text')}, E'\\n'))
        with ordinality as c (run_no, task_no, started, place)`;
}

/** A submitted task begins to work; the wait in the queue is over, so its deadline gives way to that of the run. */
function moveGranted(d: Dialect, p: Parameters, { deadline }: ClaimRows): string {
  const { cancel, total } = DEADLINE_KIND_NUMBERS;
  const nearest =
    deadline === undefined
      ? { at: 't.total_at', kind: `case when t.total_at is not null then ${total} end` }
      : nearestDeadline(p, deadline);
  return `update ${d.table('task')} t
      set fence = t.fence + 1, emit_no = 0, head_at = l.at,
        head_seq = t.head_seq + case when t.state = ${SUBMITTED} then 2 else 1 end,
        state = case when t.state = ${SUBMITTED} then ${WORKING} else t.state end,
        state_at = case when t.state = ${SUBMITTED} then l.at else t.state_at end,
        status_seq = case when t.state = ${SUBMITTED} then t.head_seq + 2 else t.status_seq end,
        generation = t.generation + case when t.state = ${SUBMITTED} then 1 else 0 end,
        deadline_at = case when t.deadline_kind = ${cancel} then t.deadline_at else ${nearest.at} end,
        deadline_kind = case when t.deadline_kind = ${cancel} then t.deadline_kind else ${nearest.kind} end
      from leased l, moment, ${d.table('session')} s
      where t.no = l.task_no and s.no = t.session_no
      returning ${TASK_COLUMNS}`;
}

function logGranted(d: Dialect, p: Parameters): string {
  const kind = EVENT_KIND_NUMBERS;
  const working = encodeEvent({ kind: 'status-changed', state: 'working' });
  const workingPayload = p.add(working.payload, 'text');
  return `insert into ${d.table('event')} (task_no, seq, seq_first, kind, audience, at, bytes, payload)
      select e.task_no, e.seq, e.seq, e.kind, e.audience, e.at, octet_length(e.payload), e.payload
      from (
        select m.no as task_no, m.head_seq - case when l.state = ${SUBMITTED} then 1 else 0 end as seq,
          ${kind['run-started']} as kind, ${AUDIENCE_NUMBERS.native} as audience, m.head_at as at, l.started as payload
        from moved m
        join leased l on l.task_no = m.no
        union all
        select m.no, m.head_seq, ${working.kind}, ${working.audience}, m.head_at, ${workingPayload}
        from moved m
        join leased l on l.task_no = m.no
        where l.state = ${SUBMITTED}) e`;
}
