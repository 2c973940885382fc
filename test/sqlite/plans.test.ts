import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deleteStagedBlobs } from '../../src/store/sql/blob-writes.ts';
import { selectChunks, selectChunksOf, selectSpeechBefore } from '../../src/store/sql/content-reads.ts';
import { sqliteDialect as d, type Statement } from '../../src/store/sql/dialect.ts';
import { selectMemories } from '../../src/store/sql/memory-reads.ts';
import { selectKnownMessage } from '../../src/store/sql/message-reads.ts';
import {
  selectActiveRun,
  selectDueDeadlines,
  selectDueTimers,
  selectRunsOfTheDead,
} from '../../src/store/sql/run-reads.ts';
import { selectSession, selectSessionPage } from '../../src/store/sql/session-reads.ts';
import { countTasks, selectTaskById, selectTaskByNo, selectTaskPage } from '../../src/store/sql/task-reads.ts';
import { selectDecidingTurn, selectJournal, selectQueuedTurns } from '../../src/store/sql/turn-reads.ts';
import { buryExpiredWorkers } from '../../src/store/sql/worker-writes.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';

const place = { agent: 'a', scope: 's' };
const after = { stateAt: 1 as never, no: 1 as never };

/** Each statement with the index that it was written for. */
const statements: Readonly<Record<string, readonly [Statement, string]>> = {
  'a task by id': [selectTaskById(d, place, 't'), 'sqlite_autoindex_task_1'],
  'a task by number': [selectTaskByNo(d, 1), 'INTEGER PRIMARY KEY'],
  'a page of tasks': [selectTaskPage(d, place, { pageItems: 5, after }), 'task_list'],
  'a page of a session': [
    selectTaskPage(d, place, { pageItems: 5, after, contextId: 'c' as never }),
    'task_of_session',
  ],
  'a count of tasks': [countTasks(d, place, {}), 'COVERING INDEX task_list'],
  'a page of sessions': [selectSessionPage(d, place, { pageItems: 5, after: 9 }), 'session_list'],
  'a session': [selectSession(d, place, 'c'), 'sqlite_autoindex_session_2'],
  'the active run': [selectActiveRun(d, 1), 'run_one_active'],
  'the turn to decide on': [selectDecidingTurn(d, 1), 'PRIMARY KEY'],
  'queued turns': [selectQueuedTurns(d, 1), 'PRIMARY KEY'],
  'a journal': [selectJournal(d, 1, 1), 'PRIMARY KEY'],
  speech: [selectSpeechBefore(d, 1, { before: 9, eventsMax: 5 }), 'event_history'],
  chunks: [selectChunks(d, 1), 'sqlite_autoindex_event_1'],
  'chunks of one artifact': [selectChunksOf(d, 1, { artifactId: 'a', baseSeq: 1 }), 'sqlite_autoindex_event_1'],
  'a known message': [selectKnownMessage(d, place, { messageId: 'm', now: 1 }), 'PRIMARY KEY'],
  'due deadlines': [selectDueDeadlines(d, 1, 1), 'COVERING INDEX task_deadline'],
  'due timers': [selectDueTimers(d, 1, 1), 'COVERING INDEX run_timer'],
  'runs of the dead': [selectRunsOfTheDead(d, 1), 'COVERING INDEX run_of_worker'],
  'workers to bury': [buryExpiredWorkers(d, 1), 'worker_alive'],
  'staged blobs': [deleteStagedBlobs(d, 1, 1), 'blob_staged'],
  memories: [selectMemories(d, place, { itemsMax: 5 }), 'memory_list'],
};

let database: DatabaseSync;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-plans-'));
  const path = join(folder, 'store.db');
  await (await openSqliteStore({ path, clock: createFakeClock() })).close();
  database = new DatabaseSync(path, { readOnly: true });
});

afterAll(async () => {
  database.close();
  await rm(folder, { recursive: true });
});

test.each(Object.entries(statements))('%s rides on its index', (_what, [{ text, values }, index]) => {
  const plan = database.prepare(`explain query plan ${text}`).all(...(values as string[]));
  const details = plan.map(({ detail }) => String(detail));
  expect(details.join('\n')).toContain(index);
  const scans = details.filter((detail) =>
    /^SCAN (?!json_each|.*USING (COVERING )?INDEX (run_of_worker|task_running))/.test(detail),
  );
  expect(scans).toEqual([]);
});
