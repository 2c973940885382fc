import { assert } from '../../base/assert.ts';
import { type Clock, type Instant, instant, systemClock } from '../../base/clock.ts';
import { CodedError } from '../../base/errors.ts';
import { type Random, systemRandom } from '../../base/random.ts';
import { createIdSource } from '../../base/unique-id.ts';
import type { StoredEvent } from '../../model/event.ts';
import type { AgentName, BlobNo, Seq, SessionNo, TaskNo, WorkerNo } from '../../model/ids.ts';
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
import type { TaskRecord } from './records.ts';
import { ScopedMemoryStore } from './scoped-store.ts';
import { Tables } from './tables.ts';
import { eventsOf, turnMaterialOf, viewOf } from './task-reads.ts';
import { appendFacts, claimRuns, commandTask, settleRun } from './task-writes.ts';

export interface MemoryStoreOptions {
  readonly clock?: Clock;
  readonly random?: Random;
}

/**
 * A store in the memory of this process, empty when it is opened and gone when it is closed. It keeps every promise of the
 * contract but outliving the process: each write happens in one synchronous stretch, so it is all or nothing,
 * and impossible rows are refused as the databases refuse them.
 */
export async function openMemoryStore(options: MemoryStoreOptions = {}): Promise<SystemStore> {
  return new MemorySystemStore(options);
}

/** As the migrations of the databases count; there is nothing to migrate here. */
const SCHEMA_VERSION = 1;

type RegisterRequest = Parameters<SystemStore['registerWorker']>[0];
type StageRequest = Parameters<SystemStore['stageSlice']>[0];
type Heads = Awaited<ReturnType<SystemStore['readHeads']>>;

class MemorySystemStore implements SystemStore {
  readonly name = 'memory';
  readonly #tables: Tables;
  readonly #installation: Awaited<ReturnType<SystemStore['installation']>>;
  #isClosed = false;

  constructor({ clock = systemClock, random = systemRandom }: MemoryStoreOptions) {
    this.#tables = new Tables(clock);
    this.#installation = {
      id: createIdSource({ clock, random, pool: 10 })(),
      incarnation: Buffer.from(random.bytes(8)).toString('hex'),
      schemaVersion: SCHEMA_VERSION,
    };
  }

  scoped(agent: AgentName, scope: Scope): ScopedStore {
    return new ScopedMemoryStore(() => this.#open(), { agent, scope });
  }

  async installation(): ReturnType<SystemStore['installation']> {
    this.#open();
    return { ...this.#installation };
  }

  async now(): Promise<Instant> {
    return this.#open().now();
  }

  async registerWorker({ workerId, leaseMs }: RegisterRequest): Promise<WorkerNo> {
    const tables = this.#open();
    assert(!tables.workerIds.has(workerId), 'a worker id is used once');
    tables.workerIds.add(workerId);
    tables.last.worker += 1;
    const workerNo = tables.last.worker as WorkerNo;
    tables.workers.set(workerNo, { leaseUntil: instant(tables.now() + leaseMs), dead: false });
    return workerNo;
  }

  async renewWorker({ workerNo, leaseMs }: { workerNo: WorkerNo; leaseMs: number }): Promise<boolean> {
    const tables = this.#open();
    const worker = tables.workers.get(workerNo);
    if (worker === undefined || worker.dead) return false;
    worker.leaseUntil = instant(tables.now() + leaseMs);
    return true;
  }

  async buryWorkers({ all, except }: { all: boolean; except?: WorkerNo }): Promise<number> {
    const tables = this.#open();
    let died = 0;
    for (const [workerNo, worker] of tables.workers) {
      const isOver = all || worker.leaseUntil <= tables.now();
      if (worker.dead || workerNo === except || !isOver) continue;
      worker.dead = true;
      died += 1;
    }
    return died;
  }

  async retireWorker(workerNo: WorkerNo): Promise<void> {
    const worker = this.#open().workers.get(workerNo);
    if (worker !== undefined) worker.dead = true;
  }

  async claim(request: ClaimRequest): Promise<readonly Grant[]> {
    return claimRuns(this.#open(), request);
  }

  async nextRunnableAt(agents: readonly AgentName[]): Promise<Instant | undefined> {
    return this.#open().ready.nextAt(agents);
  }

  async append(grant: Grant, batch: FactBatch): Promise<AppendResult> {
    return appendFacts(this.#open(), grant, batch);
  }

  async settle(grant: Grant, request: SettleRequest): Promise<CommandResult> {
    return settleRun(this.#open(), grant, request);
  }

  async command(taskNo: TaskNo, headSeq: Seq, write: TaskWrite): Promise<CommandResult> {
    return commandTask(this.#open(), this.#task(taskNo), { headSeq, write });
  }

  async readView(taskNo: TaskNo): Promise<TaskView | undefined> {
    const record = this.#task(taskNo);
    return record === undefined ? undefined : viewOf(record);
  }

  async readTurn(grant: Grant): Promise<TurnMaterial> {
    const record = this.#task(grant.taskNo);
    if (record === undefined) throw new CodedError('lease_lost', { message: `Task ${grant.taskId} is gone.` });
    return turnMaterialOf(record, grant);
  }

  async readEvents(
    taskNo: TaskNo,
    range: { readonly after: Seq; readonly eventsMax: number; readonly bytesMax: number },
  ): Promise<readonly StoredEvent[] | undefined> {
    const record = this.#task(taskNo);
    return record === undefined ? undefined : eventsOf(record, range);
  }

  async readHeads(tasks: readonly { readonly taskNo: TaskNo; readonly seq: Seq }[]): Promise<Heads> {
    const moved = new Map<TaskNo, Heads[number]>();
    for (const { taskNo, seq } of tasks) {
      const task = this.#task(taskNo)?.task;
      if (task === undefined) moved.set(taskNo, { taskNo, headSeq: 0 as Seq, cancelRequested: false });
      else if (task.headSeq > seq) {
        moved.set(taskNo, { taskNo, headSeq: task.headSeq, cancelRequested: task.cancelAt !== undefined });
      }
    }
    return [...moved.values()];
  }

  async dueDeadlines(itemsMax: number): Promise<readonly TaskNo[]> {
    return this.#due(itemsMax, ({ task }) => task.deadline?.at);
  }

  async dueTimers(itemsMax: number): Promise<readonly TaskNo[]> {
    return this.#due(itemsMax, ({ activeRun }) => (activeRun?.state === 'waiting' ? activeRun.wake.at : undefined));
  }

  async orphans(itemsMax: number): Promise<readonly TaskNo[]> {
    const tables = this.#open();
    const found: TaskNo[] = [];
    for (const { task, activeRun } of tables.live) {
      if (found.length >= itemsMax) break;
      const asksForRun = task.state === 'submitted' || task.state === 'working';
      const isOrphan =
        activeRun === undefined ? asksForRun : activeRun.state === 'leased' && tables.isDead(activeRun.workerNo);
      if (isOrphan) found.push(task.no);
    }
    return found;
  }

  async readSessionState(sessionNo: SessionNo, key: string): Promise<string | undefined> {
    return this.#open().sessions.get(sessionNo)?.state?.get(key);
  }

  async stageSlice({ blobNo, sliceNo, data }: StageRequest): Promise<BlobNo> {
    const tables = this.#open();
    return tables.blobs.stage({ ...(blobNo === undefined ? {} : { blobNo }), sliceNo, data, now: tables.now() });
  }

  async readBlobSlice(blobNo: BlobNo, sliceNo: number): Promise<Uint8Array | undefined> {
    return this.#open().blobs.slice(blobNo, sliceNo);
  }

  async dropStagedBlobs({ olderThanMs, itemsMax }: { olderThanMs: number; itemsMax: number }): Promise<number> {
    const tables = this.#open();
    return tables.blobs.dropStaged({ before: tables.now() - olderThanMs, itemsMax });
  }

  async listTasks({ itemsMax, state, agent }: OperatorTaskQuery): Promise<readonly Task[]> {
    return [...this.#open().tasks.values()]
      .map(({ task }) => task)
      .filter((task) => (state === undefined || task.state === state) && (agent === undefined || task.agent === agent))
      .reverse()
      .slice(0, itemsMax);
  }

  async stats(): Promise<StoreStats> {
    const { taskCounts, runCounts, sessions, eventCount } = this.#open();
    const { queued, leased, waiting } = runCounts;
    return { tasks: { ...taskCounts }, runs: { queued, leased, waiting }, sessions: sessions.size, events: eventCount };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  /** The tables, while there is a store. */
  #open(): Tables {
    if (this.#isClosed) throw new CodedError('unavailable', { message: 'The store is closed.' });
    return this.#tables;
  }

  #task(taskNo: TaskNo): TaskRecord | undefined {
    return this.#open().tasks.get(taskNo);
  }

  /** Live tasks whose time has come, earliest first. */
  #due(itemsMax: number, timeOf: (record: TaskRecord) => Instant | undefined): readonly TaskNo[] {
    const tables = this.#open();
    const now = tables.now();
    const due: { readonly at: Instant; readonly no: TaskNo }[] = [];
    for (const record of tables.live) {
      const at = timeOf(record);
      if (at !== undefined && at <= now) due.push({ at, no: record.task.no });
    }
    return due
      .sort((a, b) => a.at - b.at || a.no - b.no)
      .slice(0, itemsMax)
      .map(({ no }) => no);
  }
}
