import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { testFolder } from './folder.ts';

const TASKS = 25_000;

/** Tasks in a file that nobody has open: states 1 to 8 in turn, each with a log of ten events. */
function fill(path: string): void {
  const database = new DatabaseSync(path);
  database.exec(`
    insert into session (agent, scope, context_id, thread_id, created_at) values ('a', 's', 'c', 't', 0);
    insert into task (id, agent, scope, session_no, state, state_at, status_seq, head_seq, head_at, generation, created_at, turn_no, ended_at)
    with recursive n (i) as (select 0 union all select i + 1 from n where i < ${TASKS - 1})
    select 't' || i, 'a', 's', 1, i % 8 + 1, i, 1, 10, i, 1, i, 1, case when i % 8 + 1 in (3, 4, 5, 7) then i end
    from n`);
  database.close();
}

test('many tasks are counted in pieces, and other work goes on between them', async () => {
  const path = join(await testFolder(), 'store.db');
  const clock = createFakeClock();
  await (await openSqliteStore({ path, clock })).close();
  fill(path);
  const store = await openSqliteStore({ path, clock });
  let turns = 0;
  let isCounting = true;
  const otherWork = () => {
    turns += 1;
    if (isCounting) setImmediate(otherWork);
  };
  setImmediate(otherWork);
  const stats = await store.stats();
  isCounting = false;
  expect(turns).toBeGreaterThanOrEqual(2);
  expect(stats.tasks).toEqual({
    submitted: TASKS / 8,
    working: TASKS / 8,
    completed: TASKS / 8,
    failed: TASKS / 8,
    canceled: TASKS / 8,
    'input-required': TASKS / 8,
    rejected: TASKS / 8,
    'auth-required': TASKS / 8,
  });
  expect(stats.events).toBe(10 * TASKS);
  // Nobody works on any of them; a sweep goes through those whose state asks for it piece by piece.
  const found = new Set<number>();
  for (let call = 0; call < 4; call += 1) for (const taskNo of await store.orphans(5_000)) found.add(taskNo);
  expect(found.size).toBe(TASKS / 4);
  await store.close();
});
