import { expect, test } from 'vitest';
import { instant } from '../../src/base/clock.ts';
import { selectCandidates } from '../../src/store/postgres/claim-candidates.ts';
import type { Statement } from '../../src/store/postgres/database.ts';
import { applySettings } from '../../src/store/postgres/pool.ts';
import { insertTask } from '../../src/store/postgres/submit-statement.ts';
import { selectTask } from '../../src/store/postgres/view-reads.ts';
import { postgresDialect } from '../../src/store/sql/dialect.ts';
import { selectKnownMessage } from '../../src/store/sql/message-reads.ts';
import { selectDueDeadlines, selectDueTimers, selectNextRunnableAt } from '../../src/store/sql/run-reads.ts';
import { selectSession, selectSessionPage } from '../../src/store/sql/session-reads.ts';
import { selectTaskById, selectTaskPage } from '../../src/store/sql/task-reads.ts';
import { AGENT, SCOPE } from '../conformance/builders.ts';
import { PostgresWorld } from './postgres-world.ts';

/** On tables without statistics, as after a start: the server then guesses, and a guess is kept for as long as a plan is. */
test('every statement finds its rows by the index that was made for it', async () => {
  const database = new PostgresWorld();
  const world = await database.open();
  const { task } = await world.submit();
  const d = postgresDialect(database.schema);
  const place = { agent: AGENT, scope: SCOPE };
  const request = world.submitRequest({ contextId: task.contextId });
  const submit = insertTask(d, { place, request, events: request.events, messageSeq: 2, now: null });
  const claim = selectCandidates(d, { agents: [AGENT], from: [''], runsMax: 9, now: null });
  const now = instant(0);
  const expected: readonly (readonly [string, Statement, string])[] = [
    ['a task by id', selectTask(d, { taskId: task.id, ...place }), 'task_id_key'],
    ['a task by id, shared', selectTaskById(d, place, task.id), 'task_id_key'],
    ['a session', selectSession(d, place, task.contextId), 'context_is_per_scope'],
    ['a submit', submit, 'context_is_per_scope'],
    ['a message', selectKnownMessage(d, place, { messageId: 'x', now: null }), 'idempotency_pkey'],
    ['a page of tasks', selectTaskPage(d, place, { pageItems: 9 }), 'task_list'],
    ['a page of sessions', selectSessionPage(d, place, { pageItems: 9 }), 'session_list'],
    ['deadlines', selectDueDeadlines(d, null, 9), 'task_deadline'],
    ['timers', selectDueTimers(d, now, 9), 'run_timer'],
    ['the next run', selectNextRunnableAt(d, [AGENT]), 'run_ready'],
    ['candidates of a claim', claim, 'run_ready_of_scope'],
  ];
  const admin = await database.connect();
  await admin.query(applySettings('set'));
  for (const [name, { text, values }, index] of expected) {
    const { rows } = await admin.query<{ 'QUERY PLAN': string }>(`explain ${text}`, [...values]);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan, name).toContain(index);
    expect(plan, name).not.toContain('Seq Scan');
  }
});
