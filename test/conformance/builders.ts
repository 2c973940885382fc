import { assert } from '../../src/base/assert.ts';
import type { ArtifactHeader } from '../../src/model/artifact.ts';
import type { ArtifactUpdated, NewEvent, StoredEvent } from '../../src/model/event.ts';
import type {
  AgentName,
  ArtifactId,
  BlobNo,
  ContextId,
  MessageId,
  RunId,
  Seq,
  TaskId,
  ThreadId,
  TurnNo,
  WorkerId,
  WorkerNo,
} from '../../src/model/ids.ts';
import type { Message, Part } from '../../src/model/message.ts';
import type { Run, RunOutcome } from '../../src/model/run.ts';
import type { Scope } from '../../src/model/scope.ts';
import type { Task, TaskState } from '../../src/model/task.ts';
import type { Fingerprint, NewDeadline, NewRun, NewTurn, TaskWrite } from '../../src/model/task-write.ts';
import type { Fact, Grant, ScopedStore, SubmitRequest, SubmitResult, SystemStore } from '../../src/store/contract.ts';
import type { FakeClock } from '../../src/testing/fake-clock.ts';

/** Words that occur in every case. The second of each is somebody else's. */
export const AGENT = 'agent-a' as AgentName;
export const OTHER_AGENT = 'agent-b' as AgentName;
export const SCOPE = 'user=a' as Scope;
export const OTHER_SCOPE = 'user=ab' as Scope;
export const FIRST_TURN = 1 as TurnNo;

/** How a store refuses what its constraints forbid: the caller broke a rule of ours, and nothing was written. */
export const REFUSED = { name: 'AssertionError' };

export interface Worker {
  readonly workerNo: WorkerNo;
  readonly workerId: WorkerId;
}

export interface SubmitOptions {
  readonly agent?: AgentName;
  readonly scope?: Scope;
  readonly taskId?: TaskId;
  readonly contextId?: ContextId;
  readonly messageId?: MessageId;
  readonly fingerprint?: Fingerprint;
  readonly idempotency?: 'off';
  readonly parts?: readonly Part[];
  readonly inputs?: readonly NewEvent[];
  readonly blobs?: readonly BlobNo[];
  readonly grantTo?: Worker;
  readonly delayMs?: number;
  readonly deadline?: NewDeadline;
  readonly totalMs?: number;
  readonly input?: Uint8Array;
  readonly more?: Pick<SubmitRequest, 'trace' | 'metadata'>;
}

export type Created = SubmitResult & { readonly kind: 'created' };
export interface Started {
  readonly task: Task;
  readonly grant: Grant;
}

/** A store, the clock it lives by, and short ways to bring tasks into the states that cases begin with. */
export class StoreWorld {
  readonly store: SystemStore;
  readonly clock: FakeClock;
  #ids = 0;

  constructor(store: SystemStore, clock: FakeClock) {
    this.store = store;
    this.clock = clock;
  }

  /** An id that no other has in this world. */
  id<Id extends string>(stem: string): Id {
    this.#ids += 1;
    return `${stem}-${this.#ids}` as Id;
  }

  scoped(agent: AgentName = AGENT, scope: Scope = SCOPE): ScopedStore {
    return this.store.scoped(agent, scope);
  }

  async worker(leaseMs = 30_000, agents: readonly AgentName[] = [AGENT, OTHER_AGENT]): Promise<Worker> {
    const workerId = this.id<WorkerId>('worker');
    return { workerNo: await this.store.registerWorker({ workerId, agents, leaseMs }), workerId };
  }

  submitRequest(options: SubmitOptions = {}): SubmitRequest {
    const messageId = options.messageId ?? this.id<MessageId>('message');
    const message = userMessage(messageId, options.parts);
    return {
      taskId: options.taskId ?? this.id<TaskId>('task'),
      contextId: options.contextId ?? this.id<ContextId>('context'),
      threadId: this.id<ThreadId>('thread'),
      ...(options.idempotency === 'off'
        ? {}
        : { idempotency: { messageId, fingerprint: options.fingerprint ?? fingerprintOf('a') } }),
      events: [{ kind: 'task-created' }, received(message, FIRST_TURN), ...(options.inputs ?? []), status('submitted')],
      turn: this.turn({ turnNo: FIRST_TURN, messageId, messageOrdinal: 2, ...inputOf(options) }),
      run: this.run({ delayMs: options.delayMs ?? 0 }),
      ...(options.grantTo === undefined ? {} : { grantTo: options.grantTo }),
      blobs: options.blobs ?? [],
      deadline: options.deadline,
      ...(options.totalMs === undefined ? {} : { totalMs: options.totalMs }),
      ...options.more,
    };
  }

  turn(turn: Partial<NewTurn> & Pick<NewTurn, 'turnNo' | 'messageOrdinal'>): NewTurn {
    return {
      messageId: this.id<MessageId>('message'),
      skill: 'default',
      principal: { id: 'issuer|ann' },
      agentVersion: 'v1',
      ...turn,
    };
  }

  run(run: Partial<NewRun> = {}): NewRun {
    return { id: this.id<RunId>('run'), turnNo: FIRST_TURN, attempt: 1, delayMs: 0, ...run };
  }

  async submit(options: SubmitOptions = {}): Promise<Created> {
    const result = await this.scoped(options.agent, options.scope).submit(this.submitRequest(options));
    assert(result.kind === 'created', 'a submit of a new message creates its task');
    return result;
  }

  /** A task whose first run is leased. */
  async start(options: SubmitOptions = {}): Promise<Started> {
    const grantTo = options.grantTo ?? (await this.worker());
    const { task, grant } = await this.submit({ ...options, grantTo });
    assert(grant !== undefined, 'a submit with grantTo grants');
    return { task, grant };
  }

  /** A task that has ended as its handler wished. */
  async complete(options: SubmitOptions = {}): Promise<Task> {
    const { grant } = await this.start(options);
    return this.settle(grant, endWrite(grant, 'completed'));
  }

  /** Settles with `write` and no facts before it. */
  async settle(grant: Grant, write: TaskWrite, emitNo = 0): Promise<Task> {
    const { task } = await this.view(grant);
    const result = await this.store.settle(grant, { emitNo, facts: [], headSeq: task.headSeq, write });
    assert(result.kind === 'written', 'a settlement on the newest head is written');
    return result.task;
  }

  /** Commands with `write` on the newest head. */
  async command(task: Pick<Task, 'no'>, write: TaskWrite): Promise<Task> {
    const view = await this.store.readView(task.no);
    assert(view !== undefined, 'the task is there');
    const result = await this.store.command(task.no, view.task.headSeq, write);
    assert(result.kind === 'written', 'a command on the newest head is written');
    return result.task;
  }

  async view(grant: Grant) {
    const view = await this.store.readView(grant.taskNo);
    assert(view !== undefined, 'the task is there');
    return view;
  }

  async events(task: Pick<Task, 'no'>): Promise<readonly StoredEvent[]> {
    const range = { after: 0 as Seq, eventsMax: 100_000, bytesMax: 1e9 };
    return (await this.store.readEvents(task.no, range)) ?? [];
  }

  /** Everything the store shows of a task: two that are equal mean that nothing was written in between. */
  async everything(task: Task): Promise<unknown> {
    const scoped = this.scoped(task.agent, task.scope);
    return {
      view: await this.store.readView(task.no),
      events: await this.events(task),
      runs: await scoped.listRuns(task.id),
      turns: await scoped.listTurns(task.id),
      artifacts: await scoped.listArtifacts(task.id),
      snapshot: await scoped.readSnapshot(task.id, { artifacts: true }),
    };
  }

  claim(worker: Worker, runsMax = 10, agents: readonly AgentName[] = [AGENT, OTHER_AGENT]): Promise<readonly Grant[]> {
    return this.store.claim({ ...worker, agents, runsMax });
  }
}

function inputOf(options: SubmitOptions): Pick<NewTurn, 'input'> {
  return options.input === undefined ? {} : { input: options.input };
}

export function userMessage(messageId: MessageId, parts: readonly Part[] = [text('hello')]): Message {
  return { messageId, role: 'user', parts };
}

export function agentMessage(messageId: string, words: string): Message {
  return { messageId: messageId as MessageId, role: 'agent', parts: [text(words)] };
}

export function text(words: string): Part {
  return { kind: 'text', text: words };
}

export function fingerprintOf(letter: string): Fingerprint {
  return { version: 1, digest: letter.repeat(64) };
}

export function received(message: Message, turnNo: TurnNo): NewEvent {
  return { kind: 'message-received', message, turnNo };
}

export function status(state: TaskState, message?: Message): NewEvent {
  return message === undefined ? { kind: 'status-changed', state } : { kind: 'status-changed', state, message };
}

export interface ChunkOptions {
  readonly artifactId?: string;
  readonly parts?: readonly Part[];
  readonly append?: boolean;
  readonly lastChunk?: boolean;
  readonly header?: ArtifactHeader;
}

/** An update of an output artifact by the run of `grant`; by default it opens `artifact`. */
export function chunk(grant: Pick<Grant, 'runNo' | 'turn'>, options: ChunkOptions = {}): ArtifactUpdated {
  const append = options.append ?? false;
  const header = options.header ?? (append ? undefined : {});
  return {
    kind: 'artifact-updated',
    artifactId: (options.artifactId ?? 'artifact') as ArtifactId,
    origin: 'output',
    turnNo: grant.turn.turnNo,
    runNo: grant.runNo,
    ...(header === undefined ? {} : { header }),
    parts: options.parts ?? [text('chunk')],
    append,
    lastChunk: options.lastChunk ?? false,
  };
}

export function eventFacts(...events: readonly NewEvent[]): readonly Fact[] {
  return events.map((event) => ({ kind: 'event', event }));
}

const END_OUTCOMES = { completed: 'succeeded', failed: 'failed', canceled: 'canceled', rejected: 'rejected' } as const;

/** What the end of a turn that ends its task writes. */
export function endWrite(grant: Grant, state: keyof typeof END_OUTCOMES): TaskWrite {
  const { turnNo } = grant.turn;
  return {
    events: [settled(grant, END_OUTCOMES[state]), status(state)],
    runs: [{ kind: 'settle', runNo: grant.runNo, outcome: END_OUTCOMES[state] }],
    turns: [{ kind: 'settle', turnNo }],
    revokeFence: true,
  };
}

/** What a turn that waits for an answer under `wakeKey` writes. */
export function parkWrite(
  grant: Grant,
  wake: { readonly wakeKey?: string; readonly wakeAt?: Run['startedAt'] },
): TaskWrite {
  const { wakeKey, wakeAt } = wake;
  return {
    events: [status('input-required', agentMessage('question', 'Which one?'))],
    runs: [
      {
        kind: 'park',
        runNo: grant.runNo,
        ...(wakeKey === undefined ? {} : { wakeKey }),
        ...(wakeAt === undefined ? {} : { wakeAt }),
      },
    ],
    revokeFence: true,
  };
}

/** Ends the run of `grant` with `outcome` and queues the next attempt of its turn. */
export function nextRunWrite(grant: Grant, outcome: RunOutcome, run: NewRun): TaskWrite {
  return {
    events: [settled(grant, outcome)],
    runs: [
      { kind: 'settle', runNo: grant.runNo, outcome },
      { kind: 'queue', run: { ...run, attempt: grant.attempt + 1, turnNo: grant.turn.turnNo } },
    ],
    revokeFence: true,
  };
}

export function settled(grant: Pick<Grant, 'runId' | 'turn'>, outcome: RunOutcome): NewEvent {
  return { kind: 'run-settled', runId: grant.runId, turnNo: grant.turn.turnNo, outcome };
}
