import { policyOf } from '../agent/define-agent.ts';
import type { Agent } from '../agent/definition.ts';
import { assert } from '../base/assert.ts';
import type { Duration } from '../base/duration.ts';
import type { LogFields, Logger } from '../base/log.ts';
import { type Random, seededRandom } from '../base/random.ts';
import { createIdSource, type NewId } from '../base/unique-id.ts';
import type { StoredEvent } from '../model/event.ts';
import type {
  AgentName,
  ContextId,
  MessageId,
  RunId,
  Seq,
  TaskId,
  TaskNo,
  ThreadId,
  TurnNo,
  WorkerId,
} from '../model/ids.ts';
import type { Message, Part } from '../model/message.ts';
import { decideLost, decideTimer } from '../model/run-decide.ts';
import type { Scope } from '../model/scope.ts';
import { decideCancel, decideContinue } from '../model/task-decide.ts';
import { defaultRunTimes } from '../model/task-policy.ts';
import type { TaskView } from '../model/task-view.ts';
import type { TaskWrite } from '../model/task-write.ts';
import { idleDeadline } from '../runtime/deadlines.ts';
import { createEngine } from '../runtime/executor.ts';
import type { Engine, RuntimeConfig, RuntimeParts } from '../runtime/ports.ts';
import { createSecrets } from '../runtime/secrets.ts';
import type { Grant, Snapshot, SystemStore } from '../store/contract.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { type Intercept, interceptStore, type StoreHandle } from './store-handle.ts';

export const WORLD_SCOPE = 'user=a' as Scope;

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

/** A process that executes runs: an engine with a store handle that can be made to fail, and to die. */
export interface WorldProcess {
  readonly engine: Engine;
  readonly handle: StoreHandle;
  readonly worker: { readonly workerNo: Grant['workerNo']; readonly workerId: WorkerId };
  readonly parts: RuntimeParts;
}

export interface RunWorldOptions {
  readonly agent: Agent;
  readonly seed?: number;
  readonly config?: Partial<RuntimeConfig>;
  /** What happens to the calls that a process makes to the store. */
  readonly intercept?: Intercept;
}

/**
 * A store in memory, a clock that stands still, and one process at a time that executes an agent's runs. Everything
 * that other parts of the runtime do (submits, answers, sweeps) is done here by hand, step by step.
 */
export class RunWorld {
  readonly store: SystemStore;
  readonly clock: FakeClock;
  readonly random: Random;
  readonly newId: NewId;
  readonly logged: LogLine[] = [];
  /** What the engines told followers, in order. */
  readonly published: StoredEvent[] = [];
  agent: Agent;
  process!: WorldProcess;
  taskId = '' as TaskId;
  taskNo = 0 as TaskNo;
  readonly #options: RunWorldOptions;
  #ids = 0;

  static async open(options: RunWorldOptions): Promise<RunWorld> {
    const clock = createFakeClock();
    const random = seededRandom(options.seed ?? 1);
    const world = new RunWorld(await openMemoryStore({ clock, random }), { clock, random, options });
    await world.startProcess();
    return world;
  }

  private constructor(
    store: SystemStore,
    from: { readonly clock: FakeClock; readonly random: Random; readonly options: RunWorldOptions },
  ) {
    this.store = store;
    this.clock = from.clock;
    this.random = from.random;
    this.newId = createIdSource({ clock: from.clock, random: from.random, pool: 1_000 });
    this.agent = from.options.agent;
    this.#options = from.options;
  }

  get agentName(): AgentName {
    return this.agent.name as AgentName;
  }

  get config(): RuntimeConfig {
    return {
      times: defaultRunTimes,
      concurrency: 10,
      leaseMs: 30_000,
      sweepMs: 5_000,
      pollMs: 1_000,
      sendWaitMaxMs: 300_000,
      replyKeepMs: 86_400_000,
      queuedTurnsMax: 16,
      ownsStore: true,
      showErrors: false,
      ...this.#options.config,
    } as RuntimeConfig;
  }

  /** Starts the process that executes runs from now on. */
  async startProcess(): Promise<void> {
    const workerId = this.#id<WorkerId>('worker');
    const workerNo = await this.store.registerWorker({ workerId, agents: [this.agentName], leaseMs: 1e12 });
    const handle = interceptStore(this.store, this.#options.intercept ?? (() => 'pass'));
    const world = this;
    const parts: RuntimeParts = {
      store: handle.store,
      agents: {
        get all() {
          return [world.agent];
        },
        get defaultAgent() {
          return world.agent;
        },
        find: (name) => (name === world.agentName ? world.agent : undefined),
      },
      clock: this.clock,
      random: this.random,
      newId: this.newId,
      log: this.#logger({}),
      config: this.config,
      secrets: createSecrets(new Uint8Array(32)),
      hub: {
        publish: (_taskNo, events) => this.published.push(...events),
        publishGone: () => {},
        runnable: () => {},
      },
    };
    this.process = { engine: createEngine(parts), handle, worker: { workerNo, workerId }, parts };
  }

  /** Sends the message that begins a task; nothing executes yet. */
  async submit(
    content: string | readonly Part[],
    options: { readonly skill?: string; readonly input?: Uint8Array } = {},
  ): Promise<void> {
    const message = this.#message(content);
    const turnNo = 1 as TurnNo;
    const result = await this.store.scoped(this.agentName, WORLD_SCOPE).submit({
      taskId: this.#id<TaskId>('task'),
      contextId: this.#id<ContextId>('context'),
      threadId: this.#id<ThreadId>('thread'),
      events: [
        { kind: 'task-created' },
        { kind: 'message-received', message, turnNo },
        { kind: 'status-changed', state: 'submitted' },
      ],
      turn: {
        turnNo,
        messageId: message.messageId,
        messageOrdinal: 2,
        skill: options.skill ?? 'default',
        principal: { id: 'ann' },
        agentVersion: '0',
        ...(options.input === undefined ? {} : { input: options.input }),
      },
      run: { id: this.newId() as RunId, turnNo, attempt: 1, delayMs: 0 },
      blobs: [],
      deadline: undefined,
    });
    assert(result.kind === 'created', 'a new message makes a task');
    this.taskId = result.task.id;
    this.taskNo = result.task.no;
  }

  /** Sends a message and works on it until the turn is over or waits. */
  async send(content: string | readonly Part[], options: { readonly skill?: string } = {}): Promise<void> {
    await this.submit(content, options);
    await this.work();
  }

  /** Sends a message with the task's id, without working on it. */
  async reply(content: string | readonly Part[]): Promise<void> {
    const message = this.#message(content);
    await this.#change((view) => {
      const decision = decideContinue(view, {
        message,
        inputs: [],
        principal: { id: 'ann' },
        agentVersion: '0',
        policy: policyOf(this.agent, view.turn.skill),
        times: this.config.times,
        queuedTurnsMax: this.config.queuedTurnsMax,
        ids: { runId: this.newId() as RunId, statusMessageId: this.newId() as MessageId },
      });
      assert(decision.kind === 'write', `the message is taken: ${JSON.stringify(decision)}`);
      return decision.write;
    });
  }

  async answer(content: string | readonly Part[]): Promise<void> {
    await this.reply(content);
    await this.work();
  }

  /** Asks for the end, and tells the process as the poll would. */
  async cancel(): Promise<void> {
    await this.#change((view) => {
      const policy = policyOf(this.agent, view.turn.skill);
      const decision = decideCancel(view, { by: 'ann', policy, times: this.config.times });
      return decision.kind === 'write' ? decision.write : undefined;
    });
    this.process.engine.cancel(this.taskNo);
  }

  /** Claims what is runnable and waits until nothing executes here, or everything that does waits for the clock. */
  async work(): Promise<void> {
    for (;;) {
      await this.#recover();
      const started = await this.claim();
      await this.settleDown();
      if (started === 0 && !this.process.handle.isDead) return;
    }
  }

  /** Moves the clock, then fires what is due and works on it. */
  async advance(by: Duration | number): Promise<void> {
    await this.clock.advance(by);
    await this.#fireTimers();
    await this.work();
  }

  async claim(): Promise<number> {
    const { handle, worker, engine } = this.process;
    if (handle.isDead) return 0;
    const idle = idleDeadline(this.config.times);
    const grants = await this.store.claim({
      ...worker,
      agents: [this.agentName],
      runsMax: engine.freeSlots(),
      ...(idle === undefined ? {} : { deadline: idle }),
    });
    for (const grant of grants) engine.start(grant);
    return grants.length;
  }

  /** Lets everything that does not wait for the clock come to rest. */
  async settleDown(): Promise<void> {
    for (let turn = 0; turn < SETTLE_TURNS; turn += 1) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (this.process.engine.held().length === 0 && turn > 3) return;
    }
  }

  /** Resolves when the process holds no run any more, however long that takes outside of the clock. */
  async untilNoneHeld(): Promise<void> {
    while (this.process.engine.held().length > 0) await new Promise<void>((resolve) => setImmediate(resolve));
  }

  /** The process dies: nothing it does reaches the store any more, and its runs go to the next one. */
  async crash(): Promise<void> {
    this.process.handle.kill();
    await this.#recover();
  }

  async view(): Promise<TaskView> {
    const view = await this.store.readView(this.taskNo);
    assert(view !== undefined, 'the task is there');
    return view;
  }

  async state(): Promise<string> {
    return (await this.view()).task.state;
  }

  async snapshot(): Promise<Snapshot> {
    const scoped = this.store.scoped(this.agentName, WORLD_SCOPE);
    const snapshot = await scoped.readSnapshot(this.taskId, { artifacts: true });
    assert(snapshot !== undefined, 'the task is there');
    return snapshot;
  }

  async events(): Promise<readonly StoredEvent[]> {
    const range = { after: 0 as Seq, eventsMax: 1e6, bytesMax: 1e12 };
    return (await this.store.readEvents(this.taskNo, range)) ?? [];
  }

  /** The states of the current turn's journal rows, by key. */
  async journal(): Promise<ReadonlyMap<string, string>> {
    const { task, turn } = await this.view();
    const material = await this.store.readTurn({ taskNo: task.no, fence: task.fence, turn } as unknown as Grant);
    return new Map(material.journal.map(({ key, state }) => [key, state]));
  }

  /** The whole text of an output artifact, by name. */
  async artifactText(name: string): Promise<string | undefined> {
    const { content } = await this.snapshot();
    const artifact = content.artifacts.find(({ header, origin }) => header.name === name && origin === 'output');
    return artifact?.parts.map((part) => (part.kind === 'text' ? part.text : `[${part.kind}]`)).join('');
  }

  /** After a death: the old worker is buried, a new process starts, orphans are queued again and their pause passes. */
  async #recover(): Promise<void> {
    if (!this.process.handle.isDead) return;
    this.process.engine.loseAll();
    await this.startProcess();
    await this.store.buryWorkers({ all: true, except: this.process.worker.workerNo });
    for (const taskNo of await this.store.orphans(100)) await this.#sweepLost(taskNo);
    await this.clock.advance('30s');
  }

  async #sweepLost(taskNo: TaskNo): Promise<void> {
    const view = await this.store.readView(taskNo);
    if (view === undefined) return;
    const write = decideLost(view, {
      policy: policyOf(this.agent, view.turn.skill),
      times: this.config.times,
      runId: this.newId() as RunId,
      message: (text) => this.#message(text),
    });
    if (write !== undefined) await this.store.command(taskNo, view.task.headSeq, write);
  }

  async #fireTimers(): Promise<void> {
    for (const taskNo of await this.store.dueTimers(100)) {
      const view = await this.store.readView(taskNo);
      if (view === undefined) continue;
      const now = this.clock.now();
      const write = decideTimer(view, { now, runId: this.newId() as RunId, times: this.config.times });
      if (write !== undefined) await this.store.command(taskNo, view.task.headSeq, write);
    }
  }

  async #change(decide: (view: TaskView) => TaskWrite | undefined): Promise<void> {
    for (;;) {
      const view = await this.view();
      const write = decide(view);
      if (write === undefined) return;
      const result = await this.store.command(this.taskNo, view.task.headSeq, write);
      if (result.kind === 'written') return;
    }
  }

  #message(content: string | readonly Part[]): Message {
    const parts: readonly Part[] = typeof content === 'string' ? [{ kind: 'text', text: content }] : content;
    return { messageId: this.#id<MessageId>('message'), role: 'user', parts };
  }

  #id<Id extends string>(stem: string): Id {
    this.#ids += 1;
    return `${stem}-${this.#ids}` as Id;
  }

  #logger(inherited: LogFields): Logger {
    const write =
      (level: LogLine['level']) =>
      (message: string, fields: LogFields = {}): void => {
        this.logged.push({ level, message, fields: { ...inherited, ...fields } });
      };
    return {
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
      child: (fields) => this.#logger({ ...inherited, ...fields }),
    };
  }
}

/** Turns of the event loop in which runs that wait for nothing come to their end. */
const SETTLE_TURNS = 60;
