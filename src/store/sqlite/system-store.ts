import { assert } from '../../base/assert.ts';
import type { Instant } from '../../base/clock.ts';
import { CodedError } from '../../base/errors.ts';
import type { StoredEvent } from '../../model/event.ts';
import type { AgentName, BlobNo, Fence, Seq, SessionNo, TaskNo, WorkerId, WorkerNo } from '../../model/ids.ts';
import type { Scope } from '../../model/scope.ts';
import type { Task } from '../../model/task.ts';
import type { TaskView } from '../../model/task-view.ts';
import type { TaskWrite } from '../../model/task-write.ts';
import type {
  AppendResult,
  ClaimRequest,
  CommandResult,
  FactBatch,
  Grant,
  OperatorTaskQuery,
  ScopedStore,
  SettleRequest,
  StoreStats,
  SystemStore,
  TurnMaterial,
} from '../contract.ts';
import { deleteStagedBlobs, insertBlob, putBlobSlice, selectBlobSlice } from '../sql/blob-writes.ts';
import { sqliteDialect as d, type Statement } from '../sql/dialect.ts';
import { decodeTask, type TaskRow } from '../sql/row-codec.ts';
import { selectDueDeadlines, selectDueTimers, selectRunsOfWorker } from '../sql/run-reads.ts';
import { selectSessionState } from '../sql/session-reads.ts';
import { selectNewestTasks } from '../sql/task-reads.ts';
import { buryExpiredWorkers, buryOtherWorkers, extendLease, insertWorker, retireWorker } from '../sql/worker-writes.ts';
import type { Access } from './access.ts';
import { append, prepareBatch } from './append.ts';
import { claim, nextRunnableAt, type ScopePlaces } from './claim.ts';
import { command, prepareCommand, prepareSettlement, settle } from './command.ts';
import type { Connection } from './connection.ts';
import { readTurnMaterial } from './content-read.ts';
import { type Head, readEvents, readHeads } from './log-read.ts';
import { OrphanSearch } from './orphans.ts';
import { SqliteScopedStore, WRITE_BYTES } from './scoped-store.ts';
import { readStats } from './stats.ts';
import { readTaskRow } from './task-row.ts';
import { readView } from './task-view-read.ts';
import { BATCH_BYTES_MAX } from './write-queue.ts';

export interface Installation {
  readonly id: string;
  readonly incarnation: string;
  readonly schemaVersion: number;
}

interface StagedSlice {
  readonly blobNo?: BlobNo;
  readonly sliceNo: number;
  readonly data: Uint8Array;
  readonly total: { readonly bytes: number; readonly sha256: string };
}

export class SqliteSystemStore implements SystemStore {
  readonly name = 'sqlite';
  readonly #access: Access;
  readonly #installation: Installation;
  readonly #onClose: () => void;
  readonly #scopePlaces: ScopePlaces = new Map();
  readonly #orphans = new OrphanSearch();
  #isClosed = false;

  constructor(parts: {
    readonly access: Access;
    readonly installation: Installation;
    readonly onClose: () => void;
  }) {
    this.#access = parts.access;
    this.#installation = parts.installation;
    this.#onClose = parts.onClose;
  }

  scoped(agent: AgentName, scope: Scope): ScopedStore {
    return new SqliteScopedStore(this.#access, { agent, scope });
  }

  async installation(): Promise<Installation> {
    return this.#installation;
  }

  async now(): Promise<Instant> {
    return this.#access.now();
  }

  registerWorker(request: {
    readonly workerId: WorkerId;
    readonly agents: readonly AgentName[];
    readonly leaseMs: number;
  }): Promise<WorkerNo> {
    const { workerId: id, agents, leaseMs } = request;
    return this.#access.write(WRITE_BYTES, (tx, now) => {
      const [row] = tx.changeAll<{ no: number }>(insertWorker(d, { id, agents, leaseUntil: now + leaseMs }));
      assert(row !== undefined, 'an insert returns its row');
      return row.no as WorkerNo;
    });
  }

  renewWorker(request: { readonly workerNo: WorkerNo; readonly leaseMs: number }): Promise<boolean> {
    return this.#access.write(
      WRITE_BYTES,
      (tx, now) => tx.changeAll(extendLease(d, request.workerNo, now + request.leaseMs)).length === 1,
    );
  }

  buryWorkers(request: { readonly all: boolean; readonly except?: WorkerNo }): Promise<number> {
    return this.#access.write(WRITE_BYTES, (tx, now) => {
      const burial = request.all ? buryOtherWorkers(d, request.except ?? 0) : buryExpiredWorkers(d, now);
      return tx.changeAll(burial).length;
    });
  }

  async retireWorker(workerNo: WorkerNo): Promise<void> {
    await this.#access.write(WRITE_BYTES, (tx) => tx.write(retireWorker(d, workerNo)));
  }

  claim(request: ClaimRequest): Promise<readonly Grant[]> {
    return this.#access.write(WRITE_BYTES * request.runsMax, (tx, now) => claim(tx, request, this.#scopePlaces, now));
  }

  nextRunnableAt(agents: readonly AgentName[]): Promise<Instant | undefined> {
    return this.#access.read((db) => nextRunnableAt(db, agents));
  }

  append(grant: Grant, batch: FactBatch): Promise<AppendResult> {
    const prepared = prepareBatch(batch);
    return this.#access.write(prepared.bytes, (tx, now) => append(tx, grant, prepared, now));
  }

  settle(grant: Grant, request: SettleRequest): Promise<CommandResult> {
    const settlement = prepareSettlement(request);
    const bytes = settlement.prepared.bytes + settlement.preparedFacts.bytes + WRITE_BYTES;
    return this.#access.write(bytes, (tx, now) => settle(tx, grant, settlement, now));
  }

  command(taskNo: TaskNo, headSeq: Seq, write: TaskWrite): Promise<CommandResult> {
    const prepared = prepareCommand(headSeq, write);
    return this.#access.write(prepared.prepared.bytes + WRITE_BYTES, (tx, now) =>
      command(tx, readTaskRow(tx, taskNo), prepared, now),
    );
  }

  readView(taskNo: TaskNo): Promise<TaskView | undefined> {
    return this.#access.read((db) => {
      const task = readTaskRow(db, taskNo);
      return task === undefined ? undefined : readView(db, task);
    });
  }

  readTurn(grant: Grant): Promise<TurnMaterial> {
    return this.#access.read((db) => {
      const task = readTaskRow(db, grant.taskNo);
      if (task === undefined) throw new CodedError('lease_lost');
      return readTurnMaterial(db, task, grant);
    });
  }

  readEvents(
    taskNo: TaskNo,
    range: { readonly after: Seq; readonly eventsMax: number; readonly bytesMax: number },
  ): Promise<readonly StoredEvent[] | undefined> {
    return this.#access.read((db) => readEvents(db, taskNo, range));
  }

  readHeads(tasks: readonly { readonly taskNo: TaskNo; readonly seq: Seq }[]): Promise<readonly Head[]> {
    return this.#access.read((db) => readHeads(db, tasks));
  }

  dueDeadlines(itemsMax: number): Promise<readonly TaskNo[]> {
    return this.#access.read((db) => taskNos(db, selectDueDeadlines(d, this.#access.clock.now(), itemsMax)));
  }

  dueTimers(itemsMax: number): Promise<readonly TaskNo[]> {
    return this.#access.read((db) => taskNos(db, selectDueTimers(d, this.#access.clock.now(), itemsMax)));
  }

  leasedTo(workerNo: WorkerNo): Promise<readonly { readonly taskNo: TaskNo; readonly fence: Fence }[]> {
    return this.#access.read((db) =>
      db
        .readAll<{ task_no: TaskNo; fence: Fence }>(selectRunsOfWorker(d, workerNo))
        .map((row) => ({ taskNo: row.task_no, fence: row.fence })),
    );
  }

  orphans(itemsMax: number): Promise<readonly TaskNo[]> {
    return this.#access.read((db) => this.#orphans.find(db, itemsMax));
  }

  readSessionState(sessionNo: SessionNo, key: string): Promise<string | undefined> {
    return this.#access.read((db) => db.readOne<{ value: string }>(selectSessionState(d, sessionNo, key))?.value);
  }

  stageSlice(request: StagedSlice): Promise<BlobNo> {
    // A copy now: its owner may fill the buffer again before the write's turn comes.
    const data = request.data.slice();
    // As heavy as a whole batch, so that each slice is a commit of its own: many in one would hold the event loop too long.
    return this.#access.write(BATCH_BYTES_MAX, (tx, now) => stageSlice(tx, { ...request, data }, now));
  }

  readBlobSlice(blobNo: BlobNo, sliceNo: number): Promise<Uint8Array | undefined> {
    return this.#access.read((db) => db.readOne<{ data: Uint8Array }>(selectBlobSlice(d, blobNo, sliceNo))?.data);
  }

  dropStagedBlobs(request: { readonly olderThanMs: number; readonly itemsMax: number }): Promise<number> {
    return this.#access.write(
      WRITE_BYTES,
      (tx, now) => tx.changeAll(deleteStagedBlobs(d, now - request.olderThanMs, request.itemsMax)).length,
    );
  }

  listTasks(query: OperatorTaskQuery): Promise<readonly Task[]> {
    return this.#access.read((db) => db.readAll<TaskRow>(selectNewestTasks(d, query)).map(decodeTask));
  }

  stats(): Promise<StoreStats> {
    return readStats(this.#access);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#access.close();
    this.#onClose();
  }
}

function stageSlice(tx: Connection, slice: StagedSlice, now: Instant): BlobNo {
  const { sliceNo, data, total } = slice;
  const blobNo = slice.blobNo ?? tx.changeAll<{ no: number }>(insertBlob(d, { ...total, stagedAt: now }))[0]?.no;
  assert(blobNo !== undefined, 'an insert returns its row');
  tx.write(putBlobSlice(d, { blobNo, sliceNo, data }));
  return blobNo as BlobNo;
}

function taskNos(db: Connection, statement: Statement): readonly TaskNo[] {
  return db.readAll<{ task_no: number }>(statement).map((row) => row.task_no as TaskNo);
}
