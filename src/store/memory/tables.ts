import { assert } from '../../base/assert.ts';
import type { Clock, Instant } from '../../base/clock.ts';
import type {
  AgentName,
  BlobNo,
  RunId,
  SessionNo,
  TaskId,
  TaskNo,
  ThreadId,
  WorkerId,
  WorkerNo,
} from '../../model/ids.ts';
import type { Run } from '../../model/run.ts';
import type { Scope } from '../../model/scope.ts';
import { isTerminal, type TaskState } from '../../model/task.ts';
import { BlobTable } from './blob-table.ts';
import { type QueuedRun, ReadyRuns } from './ready-runs.ts';
import { ScopeRecord, type SessionRecord, type TaskRecord, type WorkerRecord } from './records.ts';

/** All rows of a memory store, with what finds them. One write at a time changes it, in one synchronous stretch. */
export class Tables {
  readonly clock: Clock;
  readonly tasks = new Map<TaskNo, TaskRecord>();
  readonly taskIds = new Map<TaskId, TaskRecord>();
  readonly runIds = new Set<RunId>();
  readonly threadIds = new Set<ThreadId>();
  readonly sessions = new Map<SessionNo, SessionRecord>();
  readonly workers = new Map<WorkerNo, WorkerRecord>();
  readonly workerIds = new Set<WorkerId>();
  /** Tasks that have not ended: what a sweep looks through. */
  readonly live = new Set<TaskRecord>();
  readonly ready = new ReadyRuns();
  readonly blobs = new BlobTable();
  readonly taskCounts: Record<TaskState, number> = {
    submitted: 0,
    working: 0,
    completed: 0,
    failed: 0,
    canceled: 0,
    'input-required': 0,
    rejected: 0,
    'auth-required': 0,
  };
  readonly runCounts = { held: 0, queued: 0, leased: 0, waiting: 0 };
  eventCount = 0;
  /** The last number of each kind that was given. */
  readonly last = { task: 0, session: 0, run: 0, worker: 0, replyFence: 0 };
  readonly #scopes = new Map<AgentName, Map<Scope, ScopeRecord>>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  now(): Instant {
    return this.clock.now();
  }

  /** The rows of a scope, if it has any; a look leaves nothing behind. */
  scope(agent: AgentName, scope: Scope): ScopeRecord | undefined {
    return this.#scopes.get(agent)?.get(scope);
  }

  /** The rows of a scope that is about to have some. */
  openScope(agent: AgentName, scope: Scope): ScopeRecord {
    let scopes = this.#scopes.get(agent);
    if (scopes === undefined) {
      scopes = new Map();
      this.#scopes.set(agent, scopes);
    }
    let record = scopes.get(scope);
    if (record === undefined) {
      record = new ScopeRecord(agent, scope);
      scopes.set(scope, record);
    }
    return record;
  }

  /** The task of a scope. Another's task is as unknown as one that never was. */
  taskOf(agent: AgentName, scope: Scope, taskId: TaskId): TaskRecord | undefined {
    const record = this.taskIds.get(taskId);
    return record?.task.agent === agent && record.task.scope === scope ? record : undefined;
  }

  addTask(record: TaskRecord): void {
    const { task } = record;
    this.tasks.set(task.no, record);
    this.taskIds.set(task.id, record);
    this.openScope(task.agent, task.scope).tasks.push(record);
    this.taskCounts[task.state] += 1;
    if (!isTerminal(task.state)) this.live.add(record);
  }

  moveTask(record: TaskRecord, from: TaskState): void {
    const { state } = record.task;
    if (state === from) return;
    this.taskCounts[from] -= 1;
    this.taskCounts[state] += 1;
    if (isTerminal(state)) this.live.delete(record);
    else this.live.add(record);
  }

  /** Notes what the active run of a task was and is. */
  moveRun(record: TaskRecord, from: Run | undefined): void {
    const to = record.activeRun;
    if (from === to) return;
    if (from !== undefined && from.state !== 'settled') this.runCounts[from.state] -= 1;
    if (to === undefined || to.state === 'settled') return;
    this.runCounts[to.state] += 1;
    if (to.state === 'queued') this.ready.add(record, to satisfies QueuedRun);
  }

  isDead(workerNo: WorkerNo): boolean {
    return this.workers.get(workerNo)?.dead !== false;
  }

  checkBlobs(blobs: readonly BlobNo[], task: TaskNo): void {
    for (const blobNo of blobs) assert(this.blobs.canTakeUp(blobNo, task), 'an event takes up a blob that is staged');
  }
}
