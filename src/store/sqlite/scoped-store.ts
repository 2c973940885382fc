import type { Artifact, ArtifactEntry } from '../../model/artifact.ts';
import type {
  AgentName,
  ArtifactId,
  ContextId,
  MessageId,
  Seq,
  SessionNo,
  TaskId,
  TaskNo,
  WorkerNo,
} from '../../model/ids.ts';
import type { Page } from '../../model/page.ts';
import type { Run } from '../../model/run.ts';
import type { Scope } from '../../model/scope.ts';
import type { Session } from '../../model/session.ts';
import type { Task } from '../../model/task.ts';
import type { TaskView } from '../../model/task-view.ts';
import type { Fingerprint, TaskWrite } from '../../model/task-write.ts';
import type { Turn } from '../../model/turn.ts';
import type {
  CommandResult,
  FinishReply,
  HeldReply,
  KnownMessage,
  NewSession,
  ScopedStore,
  Snapshot,
  SnapshotWant,
  SubmitRequest,
  SubmitResult,
  TaskQuery,
} from '../contract.ts';
import type { MemoryStore } from '../memory-contract.ts';
import { pageOf } from '../page.ts';
import { sqliteDialect as d } from '../sql/dialect.ts';
import {
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
import { selectSession, selectSessionPage } from '../sql/session-reads.ts';
import { countTasks, selectTaskById, selectTaskNo, selectTaskPage } from '../sql/task-reads.ts';
import { selectTurns } from '../sql/turn-reads.ts';
import type { Access } from './access.ts';
import { command, prepareCommand } from './command.ts';
import type { Connection } from './connection.ts';
import { readArtifact, readArtifactEntries, readContent } from './content-read.ts';
import { memoryBytes, SqliteMemoryStore } from './memory-store.ts';
import { type BeginReplyResult, beginReply, dropReply, finishReply } from './replies.ts';
import { openSession, prepareSubmit, readKnownMessage, submit } from './submit.ts';
import { readView } from './task-view-read.ts';

/** A write beside its events: a few rows and their places in the indexes. */
export const WRITE_BYTES = 2_000;

const SELECT_TASK = selectTaskById(d, { agent: '', scope: '' }, '').text;

export class SqliteScopedStore implements ScopedStore {
  readonly memories: MemoryStore;
  readonly #access: Access;
  readonly #place: { readonly agent: AgentName; readonly scope: Scope };

  constructor(access: Access, place: { readonly agent: AgentName; readonly scope: Scope }) {
    this.#access = access;
    this.#place = place;
    this.memories = new SqliteMemoryStore(access, place);
  }

  readTask(taskId: TaskId): Promise<TaskView | undefined> {
    return this.#access.read((db) => {
      const task = this.#taskRow(db, taskId);
      return task === undefined ? undefined : readView(db, task);
    });
  }

  readSnapshot(taskId: TaskId, want: SnapshotWant): Promise<Snapshot | undefined> {
    return this.#access.read((db) => {
      const task = this.#taskRow(db, taskId);
      return task === undefined ? undefined : { task, content: readContent(db, task, want) };
    });
  }

  listTasks(query: TaskQuery): Promise<Page<Task>> {
    return this.#access.read((db) => {
      const rows = db.readAll<TaskRow>(selectTaskPage(d, this.#place, query));
      return pageOf(rows, query.pageItems, decodeTask);
    });
  }

  countTasks(query: Omit<TaskQuery, 'pageItems' | 'after'>): Promise<number> {
    return this.#access.read((db) => db.readOne<{ items: number }>(countTasks(d, this.#place, query))?.items ?? 0);
  }

  readSession(contextId: ContextId): Promise<Session | undefined> {
    return this.#access.read((db) => {
      const row = db.readOne<SessionRow>(selectSession(d, this.#place, contextId));
      return row === undefined ? undefined : decodeSession(row);
    });
  }

  openSession(request: NewSession): Promise<Session> {
    return this.#access.write(WRITE_BYTES, (tx, now) => openSession(tx, this.#place, request, now));
  }

  listSessions(query: { readonly pageItems: number; readonly after?: SessionNo }): Promise<Page<Session>> {
    return this.#access.read((db) => {
      const rows = db.readAll<SessionRow>(selectSessionPage(d, this.#place, query));
      return pageOf(rows, query.pageItems, decodeSession);
    });
  }

  listRuns(taskId: TaskId): Promise<readonly Run[] | undefined> {
    return this.#readOfTask(taskId, (db, taskNo) => db.readAll<RunRow>(selectRuns(d, taskNo)).map(decodeRun));
  }

  listTurns(taskId: TaskId): Promise<readonly Turn[] | undefined> {
    return this.#readOfTask(taskId, (db, taskNo) => db.readAll<TurnRow>(selectTurns(d, taskNo)).map(decodeTurn));
  }

  listArtifacts(taskId: TaskId): Promise<readonly ArtifactEntry[] | undefined> {
    return this.#readOfTask(taskId, readArtifactEntries);
  }

  readArtifact(taskId: TaskId, artifactId: ArtifactId): Promise<Artifact | undefined> {
    return this.#readOfTask(taskId, (db, taskNo) => readArtifact(db, taskNo, artifactId));
  }

  findMessage(messageId: MessageId): Promise<KnownMessage | undefined> {
    return this.#access.read((db) => readKnownMessage(db, this.#place, messageId, this.#access.clock.now()));
  }

  submit(request: SubmitRequest): Promise<SubmitResult> {
    const prepared = prepareSubmit(this.#place, request);
    return this.#access.write(prepared.prepared.bytes + WRITE_BYTES, (tx, now) => submit(tx, prepared, now));
  }

  command(taskId: TaskId, headSeq: Seq, write: TaskWrite): Promise<CommandResult> {
    const prepared = prepareCommand(headSeq, write);
    return this.#access.write(prepared.prepared.bytes + WRITE_BYTES, (tx, now) =>
      command(tx, this.#taskRow(tx, taskId), prepared, now),
    );
  }

  beginReply(request: {
    readonly messageId: MessageId;
    readonly fingerprint: Fingerprint;
    readonly workerNo: WorkerNo;
  }): Promise<BeginReplyResult> {
    return this.#access.write(WRITE_BYTES, (tx, now) => beginReply(tx, this.#place, request, now));
  }

  finishReply(request: FinishReply): Promise<boolean> {
    const bytes = WRITE_BYTES + request.reply.length + memoryBytes(request.memoryWrites);
    return this.#access.write(bytes, (tx, now) => finishReply(tx, this.#place, request, now));
  }

  dropReply(request: HeldReply): Promise<void> {
    return this.#access.write(WRITE_BYTES, (tx) => dropReply(tx, this.#place, request));
  }

  #taskRow(db: Connection, taskId: TaskId): Task | undefined {
    const row = db.one<TaskRow>(SELECT_TASK, taskId, this.#place.agent, this.#place.scope);
    return row === undefined ? undefined : decodeTask(row);
  }

  #readOfTask<T>(taskId: TaskId, work: (db: Connection, taskNo: TaskNo) => T): Promise<T | undefined> {
    return this.#access.read((db) => {
      const row = db.readOne<{ no: number }>(selectTaskNo(d, this.#place, taskId));
      return row === undefined ? undefined : work(db, row.no as TaskNo);
    });
  }
}
