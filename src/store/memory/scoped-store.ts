import { instant } from '../../base/clock.ts';
import type { Artifact, ArtifactEntry } from '../../model/artifact.ts';
import type { AgentName, ArtifactId, ContextId, Fence, MessageId, Seq, SessionNo, TaskId } from '../../model/ids.ts';
import type { Page } from '../../model/page.ts';
import type { Run } from '../../model/run.ts';
import type { Scope } from '../../model/scope.ts';
import type { Session } from '../../model/session.ts';
import type { Task } from '../../model/task.ts';
import type { TaskView } from '../../model/task-view.ts';
import type { TaskWrite } from '../../model/task-write.ts';
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
import { frozenCopy } from './frozen.ts';
import { knownMessage, type MessageRow, type ScopeRecord, type TaskRecord } from './records.ts';
import type { Tables } from './tables.ts';
import { artifactOfRecord, matches, owned, pageOf, snapshotOf, viewOf } from './task-reads.ts';
import { commandTask, openScopedSession, submitTask } from './task-writes.ts';

type BeginReply = Parameters<ScopedStore['beginReply']>[0];

/** The rows of one agent in one scope. `open` gives the tables while the store is open, and throws when it is closed. */
export class ScopedMemoryStore implements ScopedStore {
  readonly memories: MemoryStore;
  readonly #open: () => Tables;
  readonly #agent: AgentName;
  readonly #scope: Scope;

  constructor(open: () => Tables, place: { readonly agent: AgentName; readonly scope: Scope }) {
    this.#open = open;
    this.#agent = place.agent;
    this.#scope = place.scope;
    this.memories = this.#memoryStore();
  }

  async readTask(taskId: TaskId): Promise<TaskView | undefined> {
    return ifThere(this.#task(taskId), viewOf);
  }

  async readSnapshot(taskId: TaskId, want: SnapshotWant): Promise<Snapshot | undefined> {
    return ifThere(this.#task(taskId), (record) => snapshotOf(record, want));
  }

  async listTasks(query: TaskQuery): Promise<Page<Task>> {
    return pageOf(this.#rows()?.tasks ?? [], query);
  }

  async countTasks(query: Omit<TaskQuery, 'pageItems' | 'after'>): Promise<number> {
    let count = 0;
    for (const { task } of this.#rows()?.tasks ?? []) if (matches(task, query)) count += 1;
    return count;
  }

  async readSession(contextId: ContextId): Promise<Session | undefined> {
    return this.#rows()?.sessions.get(contextId)?.session;
  }

  async openSession(request: NewSession): Promise<Session> {
    return openScopedSession(this.#open(), { agent: this.#agent, scope: this.#scope, request });
  }

  async listSessions(query: { readonly pageItems: number; readonly after?: SessionNo }): Promise<Page<Session>> {
    const { pageItems, after } = query;
    // Sessions are only ever added, so the order of the map is the order of their numbers.
    const sessions = [...(this.#rows()?.sessions.values() ?? [])]
      .map(({ session }) => session)
      .filter(({ no }) => after === undefined || no < after)
      .reverse();
    return { items: sessions.slice(0, pageItems), more: sessions.length > pageItems };
  }

  async listRuns(taskId: TaskId): Promise<readonly Run[] | undefined> {
    return this.#task(taskId)?.runs.slice();
  }

  async listTurns(taskId: TaskId): Promise<readonly Turn[] | undefined> {
    return this.#task(taskId)?.turns.map(({ turn }) => turn);
  }

  async listArtifacts(taskId: TaskId): Promise<readonly ArtifactEntry[] | undefined> {
    return ifThere(this.#task(taskId), ({ artifacts }) => [...(artifacts?.values() ?? [])].map(({ entry }) => entry));
  }

  async readArtifact(taskId: TaskId, artifactId: ArtifactId): Promise<Artifact | undefined> {
    return ifThere(this.#task(taskId), (record) =>
      ifThere(record.artifacts?.get(artifactId), (artifact) => owned(record, artifactOfRecord(artifact))),
    );
  }

  async findMessage(messageId: MessageId): Promise<KnownMessage | undefined> {
    return ifThere(this.#message(messageId), knownMessage);
  }

  async submit(request: SubmitRequest): Promise<SubmitResult> {
    return submitTask(this.#open(), { agent: this.#agent, scope: this.#scope, request });
  }

  async command(taskId: TaskId, headSeq: Seq, write: TaskWrite): Promise<CommandResult> {
    return commandTask(this.#open(), this.#task(taskId), { headSeq, write });
  }

  async beginReply(request: BeginReply): Promise<Awaited<ReturnType<ScopedStore['beginReply']>>> {
    const tables = this.#open();
    const { messageId, workerNo } = request;
    const row = this.#message(messageId);
    const isHeld = row !== undefined && !(row.state === 'executing' && tables.isDead(row.workerNo));
    if (isHeld) return { kind: 'known', message: knownMessage(row) };
    tables.last.replyFence += 1;
    const fence = tables.last.replyFence as Fence;
    const fingerprint = frozenCopy(request.fingerprint);
    tables
      .openScope(this.#agent, this.#scope)
      .messages.set(messageId, { state: 'executing', workerNo, fence, fingerprint });
    return { kind: 'begun', fence };
  }

  async finishReply(request: FinishReply): Promise<boolean> {
    const tables = this.#open();
    const held = this.#held(request);
    if (held === undefined) return false;
    const { rows, row } = held;
    const now = tables.now();
    rows.memories.check(request.memoryWrites);
    rows.memories.apply(request.memoryWrites, now);
    rows.dropExpired(now);
    rows.keepReply(request.messageId, {
      state: 'reply',
      reply: request.reply,
      expiresAt: instant(now + request.keepMs),
      fingerprint: row.fingerprint,
    });
    return true;
  }

  async dropReply(request: HeldReply): Promise<void> {
    this.#open();
    this.#held(request)?.rows.messages.delete(request.messageId);
  }

  /** The row of a message that is being answered under this fence, or for this worker. */
  #held(request: HeldReply): { readonly rows: ScopeRecord; readonly row: MessageRow } | undefined {
    const rows = this.#rows();
    const row = rows?.messages.get(request.messageId);
    if (rows === undefined || row?.state !== 'executing') return undefined;
    const isHeld = 'fence' in request ? row.fence === request.fence : row.workerNo === request.workerNo;
    if (!isHeld) return undefined;
    return { rows, row };
  }

  #rows(): ScopeRecord | undefined {
    return this.#open().scope(this.#agent, this.#scope);
  }

  #task(taskId: TaskId): TaskRecord | undefined {
    return this.#open().taskOf(this.#agent, this.#scope, taskId);
  }

  #message(messageId: MessageId): MessageRow | undefined {
    return this.#rows()?.known(messageId, this.#open().now());
  }

  #memoryStore(): MemoryStore {
    const memories = () => this.#rows()?.memories;
    return {
      write: async (writes) => {
        const tables = this.#open();
        const rows = tables.openScope(this.#agent, this.#scope);
        rows.memories.check(writes);
        rows.memories.apply(writes, tables.now());
      },
      search: async (query) => memories()?.search(query) ?? [],
      read: async (id) => memories()?.read(id),
      list: async (query) => memories()?.list(query) ?? [],
      grantsOf: async (id) => memories()?.grantsOf(id) ?? [],
    };
  }
}

function ifThere<From, To>(value: From | undefined, make: (value: From) => To): To | undefined {
  return value === undefined ? undefined : make(value);
}
