import type { SessionNo, TaskId, TaskNo } from '../../model/ids.ts';
import type { Session } from '../../model/session.ts';
import type { NewSession, ScopedStore } from '../contract.ts';
import { pageOf } from '../page.ts';
import { selectArtifacts } from '../sql/content-reads.ts';
import type { Statement } from '../sql/dialect.ts';
import {
  type ArtifactRow,
  decodeArtifactEntry,
  decodeRun,
  decodeSession,
  decodeTask,
  decodeTurn,
  type RunRow,
  type SessionRow,
  type TaskRow,
  type TurnRow,
} from '../sql/row-codec.ts';
import { selectRuns } from '../sql/run-reads.ts';
import { insertSession, selectSession, selectSessionPage } from '../sql/session-reads.ts';
import { countTasks, selectTaskNo, selectTaskPage } from '../sql/task-reads.ts';
import { selectTurns } from '../sql/turn-reads.ts';
import { commandTask } from './commands.ts';
import { readArtifact, readSnapshot } from './content-reads.ts';
import type { Row } from './database.ts';
import { openMemories } from './memories.ts';
import { findMessage } from './messages.ts';
import { nowOf, type PostgresContext } from './postgres-context.ts';
import { beginReply, dropReply, finishReply } from './replies.ts';
import { type ScopePlace, submitTask } from './submits.ts';
import { readView } from './view-reads.ts';

/** The store of one agent in one scope: every statement compares both. */
export function openScopedStore(context: PostgresContext, place: ScopePlace): ScopedStore {
  const key = (taskId: TaskId) => ({ taskId, ...place });
  return {
    ...scopedReads(context, place),
    readTask: (taskId) => readView(context, key(taskId)),
    readSnapshot: (taskId, want) => readSnapshot(context, key(taskId), want),
    readArtifact: (taskId, artifactId) => readArtifact(context, key(taskId), artifactId),
    findMessage: (messageId) => findMessage(context, place, messageId),
    openSession: (request) => openSession(context, place, request),
    submit: (request) => submitTask(context, place, request),
    command: (taskId, headSeq, write) => commandTask(context, key(taskId), { headSeq, write }),
    beginReply: (request) => beginReply(context, place, request),
    finishReply: (request) => finishReply(context, place, request),
    dropReply: (request) => dropReply(context, place, request),
    memories: openMemories(context, place),
  };
}

/** Whoever meets a session that another transaction opened first reads it in a second statement, where it can be seen. */
async function openSession(context: PostgresContext, place: ScopePlace, request: NewSession): Promise<Session> {
  const { d, database } = context;
  const [, rows] = await database.write(
    [insertSession(d, place, { ...request, now: nowOf(context) }), selectSession(d, place, request.contextId)],
    { repeatable: true },
  );
  return decodeSession(rows?.[0] as unknown as SessionRow);
}

type ScopedReads = Pick<
  ScopedStore,
  'listTasks' | 'countTasks' | 'readSession' | 'listSessions' | 'listRuns' | 'listTurns' | 'listArtifacts'
>;

function scopedReads(context: PostgresContext, place: ScopePlace): ScopedReads {
  const { d, database } = context;
  const listRows = (taskId: TaskId, select: (taskNo: TaskNo) => Statement): Promise<readonly Row[] | undefined> =>
    database.snapshot(async (run) => {
      const [tasks] = await run([selectTaskNo(d, place, taskId)]);
      const taskNo = tasks?.[0]?.no as TaskNo | undefined;
      return taskNo === undefined ? undefined : (await run([select(taskNo)]))[0];
    });
  return {
    async listTasks(query) {
      const [rows] = await database.read([selectTaskPage(d, place, query)]);
      return pageOf(rows ?? [], query.pageItems, (row) => decodeTask(row as unknown as TaskRow));
    },
    async countTasks(query) {
      const [rows] = await database.read([countTasks(d, place, query)]);
      return rows?.[0]?.items as number;
    },
    async readSession(contextId) {
      const [rows] = await database.read([selectSession(d, place, contextId)]);
      const row = rows?.[0] as SessionRow | undefined;
      return row === undefined ? undefined : decodeSession(row);
    },
    async listSessions(query: { readonly pageItems: number; readonly after?: SessionNo }) {
      const [rows] = await database.read([selectSessionPage(d, place, query)]);
      return pageOf(rows ?? [], query.pageItems, (row) => decodeSession(row as unknown as SessionRow));
    },
    listRuns: async (taskId) =>
      (await listRows(taskId, (no) => selectRuns(d, no)))?.map((row) => decodeRun(row as unknown as RunRow)),
    listTurns: async (taskId) =>
      (await listRows(taskId, (no) => selectTurns(d, no)))?.map((row) => decodeTurn(row as unknown as TurnRow)),
    listArtifacts: async (taskId) =>
      (await listRows(taskId, (no) => selectArtifacts(d, no)))?.map((row) =>
        decodeArtifactEntry(row as unknown as ArtifactRow),
      ),
  };
}
