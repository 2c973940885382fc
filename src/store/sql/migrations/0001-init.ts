import type { Dialect } from '../dialect.ts';
import type { Migration } from '../migration.ts';
import { accountingTables } from './0001-init-accounting.ts';
import { memoryTables } from './0001-init-memory.ts';

/**
 * The tables of version 1. States, kinds and outcomes are the model's numbers (`…_NUMBERS`).
 * A state that cannot be is refused here again: the database outlives the code.
 */
export const initMigration: Migration = {
  version: 1,
  name: 'init',
  codeVersionMin: 1,
  statements: (d) => [
    ...peopleAndPlaces(d),
    ...taskTables(d),
    ...runTables(d),
    ...contentTables(d),
    ...idempotencyTables(d),
    ...memoryTables(d),
    ...accountingTables(d),
  ],
};

function peopleAndPlaces(d: Dialect): readonly string[] {
  return [
    `create table ${d.table('installation')} (
      one ${d.smallint} primary key,
      id text not null,
      incarnation text not null,
      life text not null,
      created_at ${d.integer} not null,
      constraint only_one check (one = 1)
    )${d.rowTable}`,
    `create table ${d.table('worker')} (
      no ${d.identity},
      id text not null unique,
      agents text not null,
      lease_until ${d.integer} not null,
      dead ${d.smallint} not null default 0
    )${d.rowTable}`,
    // buryWorkers: those whose lease ran out, among the few that live.
    `create index worker_alive on ${d.table('worker')} (lease_until) where dead = 0`,
    `create table ${d.table('session')} (
      no ${d.rowNumber},
      agent text not null,
      scope text not null,
      context_id text not null,
      thread_id text not null unique,
      created_at ${d.integer} not null,
      constraint context_is_per_scope unique (agent, scope, context_id)
    )${d.rowTable}`,
    // listSessions.
    `create index session_list on ${d.table('session')} (agent, scope, no)${d.listingOnly}`,
    `create table ${d.table('session_state')} (
      session_no ${d.integer} not null references ${d.table('session')} (no) on delete cascade,
      key text not null,
      value text not null,
      primary key (session_no, key)
    )${d.keyedTable}`,
  ];
}

/** Not `in (…)`: for more than two values SQLite builds a table at every insert, which is a tenth of a submit. */
const TERMINAL = 'state between 3 and 5 or state = 7';

function taskTables(d: Dialect): readonly string[] {
  return [
    `create table ${d.table('task')} (
      no ${d.identity},
      id text not null unique,
      agent text not null,
      scope text not null,
      session_no ${d.integer} not null references ${d.table('session')} (no),
      state ${d.smallint} not null,
      state_at ${d.integer} not null,
      status_seq ${d.integer} not null,
      head_seq ${d.integer} not null,
      head_at ${d.integer} not null,
      generation ${d.integer} not null,
      created_at ${d.integer} not null,
      turn_no ${d.integer} not null,
      fence ${d.integer} not null default 0,
      emit_no ${d.integer} not null default 0,
      cancel_at ${d.integer},
      cancel_by text,
      deadline_at ${d.integer},
      deadline_kind ${d.smallint},
      total_at ${d.integer},
      ended_at ${d.integer},
      trace text,
      metadata text,
      constraint known_state check (state between 1 and 8),
      constraint terminal_has_an_end check ((${TERMINAL}) = (ended_at is not null)),
      constraint terminal_waits_for_nothing check (not (${TERMINAL}) or (deadline_at is null and total_at is null)),
      constraint deadline_has_a_kind check ((deadline_at is null) = (deadline_kind is null)),
      constraint known_deadline check (deadline_kind between 1 and 5),
      constraint cancel_has_an_author check ((cancel_at is null) = (cancel_by is null)),
      constraint log_is_not_empty check (head_seq >= 1 and status_seq between 1 and head_seq)
    )${d.rowTable}`,
    // listTasks and countTasks of a scope; with a state or a session the rows are filtered.
    `create index task_list on ${d.table('task')} (agent, scope, state_at desc, no desc)${d.listingOnly}`,
    // listTasks of one session, and erasure.
    `create index task_of_session on ${d.table('task')} (session_no, state_at desc, no desc)`,
    // dueDeadlines.
    `create index task_deadline on ${d.table('task')} (deadline_at, no) where deadline_at is not null`,
    // orphans: tasks whose state asks for a run.
    `create index task_running on ${d.table('task')} (no) where state in (1, 2)`,
    // Retention.
    `create index task_retention on ${d.table('task')} (ended_at) where ended_at is not null`,
    `create table ${d.table('turn')} (
      task_no ${d.integer} not null references ${d.table('task')} (no) on delete cascade,
      turn_no ${d.integer} not null,
      message_id text not null,
      message_seq ${d.integer} not null,
      state ${d.smallint} not null,
      skill text not null,
      principal text not null,
      agent_version text not null,
      input ${d.bytes},
      attempts ${d.integer} not null default 0,
      crashes ${d.integer} not null default 0,
      primary key (task_no, turn_no),
      constraint known_turn_state check (state between 0 and 3),
      constraint settled_keeps_no_input check (state not in (2, 3) or input is null)
    )${d.keyedTable}`,
    // A task has at most one current turn; readTask finds it.
    `create unique index turn_one_current on ${d.table('turn')} (task_no) where state = 1`,
  ];
}

function runTables(d: Dialect): readonly string[] {
  return [
    `create table ${d.table('run')} (
      no ${d.rowNumber},
      id text not null unique,
      task_no ${d.integer} not null references ${d.table('task')} (no) on delete cascade,
      turn_no ${d.integer} not null,
      attempt ${d.integer} not null,
      agent text not null,
      scope text not null,
      engine text not null default 'local',
      state ${d.smallint} not null,
      runnable_at ${d.integer},
      wake_key text,
      worker_no ${d.integer},
      fence ${d.integer},
      outcome ${d.smallint},
      reason text,
      started_at ${d.integer},
      settled_at ${d.integer},
      constraint attempt_once unique (task_no, turn_no, attempt),
      constraint known_run_state check (state between 0 and 4),
      constraint known_outcome check (outcome between 1 and 9),
      constraint queued_has_a_time check (state <> 0 or runnable_at is not null),
      constraint leased_has_a_worker check ((state = 1) = (worker_no is not null and fence is not null)),
      constraint waiting_waits_for_something check (state <> 2 or runnable_at is not null or wake_key is not null),
      constraint settled_has_an_end check ((state = 3) = (settled_at is not null and outcome is not null))
    )${d.rowTable}`,
    // A task has at most one active run; readTask finds it.
    `create unique index run_one_active on ${d.table('run')} (task_no) where state <> 3`,
    // nextRunnableAt, and the oldest candidates of a claim.
    `create index run_ready on ${d.table('run')} (agent, runnable_at, no) where state = 0 and engine = 'local'`,
    // A claim takes the oldest of each scope, so that no scope stands before all others.
    `create index run_ready_of_scope on ${d.table('run')} (agent, scope, runnable_at, no)
      where state = 0 and engine = 'local'`,
    // dueTimers.
    `create index run_timer on ${d.table('run')} (runnable_at, task_no) where state = 2 and runnable_at is not null`,
    // orphans: the runs of dead workers.
    `create index run_of_worker on ${d.table('run')} (worker_no, task_no) where state = 1`,
    `create table ${d.table('step')} (
      task_no ${d.integer} not null references ${d.table('task')} (no) on delete cascade,
      turn_no ${d.integer} not null,
      step_key text not null,
      ordinal ${d.integer} not null,
      kind ${d.smallint} not null,
      state ${d.smallint} not null,
      due_at ${d.integer},
      question text,
      result text,
      primary key (task_no, turn_no, step_key),
      constraint known_step check (kind between 1 and 4 and state between 0 and 3)
    )${d.keyedTable}`,
  ];
}

/**
 * In place of a foreign key on PostgreSQL, which looks the task up for every event: a third of an append. Events are written by
 * the statement that has just moved their task's row, so the task is there; what is left to do is to delete them with it.
 */
function eventsGoWithTheirTask(d: Dialect): readonly string[] {
  return [
    `create function ${d.table('event')}_of_deleted_task() returns trigger language plpgsql as $$
    begin
      delete from ${d.table('event')} e using gone g where e.task_no = g.no;
      return null;
    end $$`,
    `create trigger task_takes_its_events after delete on ${d.table('task')}
      referencing old table as gone
      for each statement execute function ${d.table('event')}_of_deleted_task()`,
  ];
}

function contentTables(d: Dialect): readonly string[] {
  return [
    `create table ${d.table('event')} (
      task_no ${d.integer} not null${d.name === 'sqlite' ? ` references ${d.table('task')} (no) on delete cascade` : ''},
      seq ${d.integer} not null,
      seq_first ${d.integer} not null,
      run_no ${d.integer},
      kind ${d.smallint} not null,
      audience ${d.smallint} not null default 0,
      artifact_id text,
      at ${d.integer} not null,
      bytes ${d.integer} not null,
      payload text not null,
      primary key (task_no, seq),
      constraint segment_is_whole check (seq_first between 1 and seq)
    )${d.rowTable}`,
    ...(d.name === 'postgres' ? eventsGoWithTheirTask(d) : []),
    // Messages and status messages of a snapshot, newest first.
    `create index event_history on ${d.table('event')} (task_no, seq) where kind in (2, 3)`,
    `create table ${d.table('artifact')} (
      task_no ${d.integer} not null references ${d.table('task')} (no) on delete cascade,
      artifact_id text not null,
      origin ${d.smallint} not null default 0,
      turn_no ${d.integer} not null,
      run_no ${d.integer},
      opened_seq ${d.integer} not null,
      base_seq ${d.integer} not null,
      closed_seq ${d.integer},
      header text not null,
      primary key (task_no, artifact_id),
      constraint known_origin check (origin in (0, 1)),
      constraint replaced_after_opened check (base_seq >= opened_seq)
    )${d.keyedTable}`,
    `create table ${d.table('blob')} (
      no ${d.identity},
      task_no ${d.integer} references ${d.table('task')} (no) on delete cascade,
      bytes ${d.integer} not null,
      sha256 text not null,
      staged_at ${d.integer} not null
    )${d.rowTable}`,
    // dropStagedBlobs.
    `create index blob_staged on ${d.table('blob')} (staged_at) where task_no is null`,
    // Deleting a task finds its blobs.
    `create index blob_of_task on ${d.table('blob')} (task_no) where task_no is not null`,
    `create table ${d.table('blob_slice')} (
      blob_no ${d.integer} not null references ${d.table('blob')} (no) on delete cascade,
      slice_no ${d.integer} not null,
      data ${d.bytes} not null,
      primary key (blob_no, slice_no)
    )${d.rowTable}`,
  ];
}

function idempotencyTables(d: Dialect): readonly string[] {
  return [
    `create table ${d.table('idempotency')} (
      agent text not null,
      scope text not null,
      message_id text not null,
      fingerprint text not null,
      fingerprint_version ${d.smallint} not null,
      state ${d.smallint} not null,
      task_no ${d.integer} references ${d.table('task')} (no) on delete cascade,
      turn_no ${d.integer},
      message_seq ${d.integer},
      worker_no ${d.integer},
      fence ${d.integer},
      reply text,
      expires_at ${d.integer},
      primary key (agent, scope, message_id),
      constraint executing_has_a_worker check ((state = 0) = (worker_no is not null and fence is not null)),
      constraint task_has_a_turn check ((state = 1) = (task_no is not null and turn_no is not null and message_seq is not null)),
      constraint reply_expires check ((state = 2) = (reply is not null and expires_at is not null))
    )${d.keyedTable}`,
    // Deleting a task forgets its messages.
    `create index idempotency_of_task on ${d.table('idempotency')} (task_no) where task_no is not null`,
    // Retention of replies.
    `create index idempotency_expiry on ${d.table('idempotency')} (expires_at) where expires_at is not null`,
  ];
}
