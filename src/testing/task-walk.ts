import { assert } from '../base/assert.ts';
import { instant } from '../base/clock.ts';
import type { NewEvent, StoredEvent } from '../model/event.ts';
import type {
  AgentName,
  ArtifactId,
  ContextId,
  MessageId,
  RunId,
  Seq,
  TaskId,
  ThreadId,
  TurnNo,
  WorkerId,
  WorkerNo,
} from '../model/ids.ts';
import type { JournalEntry } from '../model/journal.ts';
import type { Message } from '../model/message.ts';
import {
  decideDeadline,
  decideLost,
  decideSettle,
  decideTimer,
  type Ending,
  type Parked,
} from '../model/run-decide.ts';
import type { Scope } from '../model/scope.ts';
import { isTerminal } from '../model/task.ts';
import { type Decision, decideCancel, decideContinue, decideResume } from '../model/task-decide.ts';
import type { AgentPolicy, RunTimes } from '../model/task-policy.ts';
import type { TaskView } from '../model/task-view.ts';
import type { TaskWrite } from '../model/task-write.ts';
import type { Grant, SystemStore } from '../store/contract.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { checkLog, checkMoved, checkView } from './task-invariants.ts';
import {
  agentText,
  askEntry,
  continueRequest,
  signInEntry,
  sleepEntry,
  userParts,
  userText,
  viewTimes,
} from './task-views.ts';

/** One step of a walk; numbers choose among what there is at that moment. */
export type WalkStep =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'data'; readonly pick: number; readonly action: number }
  | { readonly kind: 'cancel' | 'resume' | 'claim' | 'lose' | 'sweep' }
  | { readonly kind: 'append'; readonly count: number }
  | { readonly kind: 'end'; readonly how: number }
  | { readonly kind: 'park'; readonly what: readonly number[] }
  | { readonly kind: 'advance'; readonly ms: number };

export interface WalkPolicy extends AgentPolicy {
  readonly totalMaxMs: number;
}

const AGENT = 'agent-a' as AgentName;
const SCOPE = 'user=a' as Scope;
const QUEUED_MAX = 2;
const SCHEMA = { type: 'number', minimum: 1 };

/**
 * One task that is led through commands, runs and losses by the deciders alone, written to a memory store, and checked
 * after every step. It is the runtime without its loops: what goes wrong here is wrong in the state machine.
 */
export class TaskWalk {
  /** What happened on the way, so that a test can tell that it went everywhere. */
  readonly marks = new Set<string>();
  view: TaskView;
  readonly #store: SystemStore;
  readonly #clock: FakeClock;
  readonly #policy: AgentPolicy;
  readonly #times: RunTimes;
  readonly #accepted: MessageId[] = [];
  #worker: { readonly workerNo: WorkerNo; readonly workerId: WorkerId };
  #grant: Grant | undefined;
  #ids = 0;

  private constructor(
    world: { readonly store: SystemStore; readonly clock: FakeClock; readonly policy: WalkPolicy },
    first: { readonly view: TaskView; readonly worker: { workerNo: WorkerNo; workerId: WorkerId } },
  ) {
    this.#store = world.store;
    this.#clock = world.clock;
    this.#policy = world.policy;
    this.#times = { ...viewTimes, totalMaxMs: world.policy.totalMaxMs };
    this.view = first.view;
    this.#worker = first.worker;
    this.#accepted.push(first.view.turn.messageId);
  }

  static async begin(policy: WalkPolicy): Promise<TaskWalk> {
    const clock = createFakeClock();
    const store = await openMemoryStore({ clock });
    const workerId = 'worker-0' as WorkerId;
    const workerNo = await store.registerWorker({ workerId, agents: [AGENT], leaseMs: 30_000 });
    const message = userText('message-0', 'hello');
    const submitted = await store.scoped(AGENT, SCOPE).submit({
      taskId: 'task-1' as TaskId,
      contextId: 'context-1' as ContextId,
      threadId: 'thread-1' as ThreadId,
      events: [
        { kind: 'task-created' },
        { kind: 'message-received', message, turnNo: 1 as TurnNo },
        { kind: 'status-changed', state: 'submitted' },
      ],
      turn: {
        turnNo: 1 as TurnNo,
        messageId: message.messageId,
        messageOrdinal: 2,
        skill: 'default',
        principal: { id: 'ann' },
        agentVersion: 'v1',
      },
      run: { id: 'run-0' as RunId, turnNo: 1 as TurnNo, attempt: 1, delayMs: 0 },
      blobs: [],
      deadline: { kind: 'queued', inMs: viewTimes.queuedMaxMs },
      ...(policy.totalMaxMs > 0 ? { totalMs: policy.totalMaxMs } : {}),
    });
    assert(submitted.kind === 'created', 'the first message creates the task');
    const view = await store.readView(submitted.task.no);
    assert(view !== undefined, 'a task that was created can be read');
    return new TaskWalk({ store, clock, policy }, { view, worker: { workerNo, workerId } });
  }

  get isOver(): boolean {
    return isTerminal(this.view.task.state);
  }

  async take(step: WalkStep): Promise<void> {
    switch (step.kind) {
      case 'text':
        return this.#continue(userText(this.#id('message'), step.text));
      case 'data':
        return this.#continue(this.#dataMessage(step));
      case 'cancel':
        return this.#decided(decideCancel(this.view, { by: 'ann', policy: this.#policy, times: this.#times }));
      case 'resume':
        return this.#continueWith(userText(this.#id('message'), 'resumed'), 'resume');
      case 'claim':
        return this.#claim();
      case 'append':
        return this.#append(step.count);
      case 'end':
        return this.#settle(this.#ending(step.how));
      case 'park':
        return this.#settle(this.#parked(step.what));
      case 'lose':
        return this.#lose();
      case 'advance':
        return this.#clock.advance(step.ms);
      case 'sweep':
        return this.#sweep();
    }
  }

  /** Everything that must hold now. */
  async check(): Promise<void> {
    const log = await this.#log();
    checkView(this.view, { queuedMax: QUEUED_MAX });
    checkLog(log, this.view.task, this.#accepted);
  }

  /** A worker that succeeds, time that passes and a sweep, until the task has ended; answers nothing. */
  async runToEnd(): Promise<void> {
    for (let round = 0; round < 60 && !this.isOver; round += 1) {
      await this.#claim();
      await this.#settle({ kind: 'succeeded' });
      await this.#clock.advance(this.#times.interruptedMaxMs / 2);
      await this.#sweep();
    }
  }

  async #continue(message: Message): Promise<void> {
    await this.#continueWith(message, 'continue');
  }

  async #continueWith(message: Message, how: 'continue' | 'resume'): Promise<void> {
    const request = continueRequest(message, {
      policy: this.#policy,
      times: this.#times,
      queuedTurnsMax: QUEUED_MAX,
      ids: { runId: this.#id<RunId>('run'), statusMessageId: this.#id<MessageId>('status') },
    });
    const decision = (how === 'continue' ? decideContinue : decideResume)(this.view, request);
    const isReceived =
      decision.kind === 'write' && decision.write.events.some((event) => event.kind === 'message-received');
    if (isReceived) this.#accepted.push(message.messageId);
    assert(how === 'resume' || isReceived === (decision.kind === 'write'), 'an accepted message is in the log');
    await this.#decided(decision);
  }

  #dataMessage({ pick, action }: { readonly pick: number; readonly action: number }): Message {
    const askId = this.view.open[pick % Math.max(1, this.view.open.length)]?.key ?? 'ask:nobody';
    const data = [
      { askId, content: 3 },
      { askId, content: 'many' },
      { askId, action: 'decline' },
      { askId: 'ask:unknown' },
    ] as const;
    return userParts(this.#id('message'), [{ kind: 'data', data: data[action] ?? 3 }]);
  }

  async #decided(decision: Decision): Promise<void> {
    if (decision.kind !== 'write') {
      this.marks.add(decision.kind === 'refused' ? `refused ${decision.code}` : decision.kind);
      return;
    }
    await this.#command(decision.write);
  }

  async #command(write: TaskWrite): Promise<void> {
    const { task } = this.view;
    const result = await this.#store.command(task.no, task.headSeq, write);
    assert(result.kind === 'written', 'a decision on the newest head is written');
    await this.#read(write);
  }

  async #read(write?: TaskWrite): Promise<void> {
    const before = this.view;
    const view = await this.#store.readView(before.task.no);
    assert(view !== undefined, 'the task is there');
    this.view = view;
    checkMoved(before, view, write);
  }

  async #claim(): Promise<void> {
    const grants = await this.#store.claim({
      ...this.#worker,
      agents: [AGENT],
      runsMax: 1,
      deadline: { kind: 'idle', inMs: this.#times.idleMaxMs },
    });
    if (grants[0] === undefined) return;
    this.#grant = grants[0];
    await this.#read();
  }

  /** Whether the run that was granted last still holds the task; a store refuses what it writes when not. */
  async #holds(): Promise<boolean> {
    const grant = this.#grant;
    if (grant === undefined) return false;
    const holds = this.view.task.fence === grant.fence;
    if (holds) return true;
    const late = this.#store.append(grant, { emitNo: 0, facts: [] });
    assert(
      await late.then(
        () => false,
        () => true,
      ),
      'a run whose fence was taken writes nothing',
    );
    this.marks.add('fenced');
    return false;
  }

  async #append(count: number): Promise<void> {
    if (!(await this.#holds()) || this.#grant === undefined) return;
    const { turn, runNo } = this.#grant;
    const event: NewEvent = {
      kind: 'artifact-updated',
      artifactId: `artifact-${turn.turnNo}` as ArtifactId,
      origin: 'output',
      turnNo: turn.turnNo,
      runNo,
      header: {},
      parts: [{ kind: 'text', text: 'x' }],
      append: true,
      lastChunk: false,
    };
    const facts = Array.from({ length: count }, () => ({ kind: 'event' as const, event }));
    const deadline = { kind: 'idle' as const, inMs: this.#times.idleMaxMs };
    await this.#store.append(this.#grant, { emitNo: this.view.task.emitNo, facts, deadline });
    await this.#read();
  }

  async #settle(ending: Ending): Promise<void> {
    if (!(await this.#holds()) || this.#grant === undefined) return;
    this.marks.add(ending.kind);
    const { task } = this.view;
    const facts = { policy: this.#policy, times: this.#times, runId: this.#id<RunId>('run') };
    const write = decideSettle(this.view, ending, facts);
    const end = write.events.at(-1);
    const isCanceled = end?.kind === 'status-changed' && end.state === 'canceled';
    assert(task.cancelAt === undefined || isCanceled, 'after a cancel request a run ends its task canceled');
    const settlement = { emitNo: task.emitNo, facts: [], headSeq: task.headSeq, write };
    const result = await this.#store.settle(this.#grant, settlement);
    assert(result.kind === 'written', 'a settlement on the newest head is written');
    await this.#read(write);
  }

  #ending(how: number): Ending {
    const endings: readonly Ending[] = [
      { kind: 'succeeded' },
      { kind: 'succeeded', message: agentText(this.#id('word')) },
      { kind: 'failed', reason: 'boom', message: agentText(this.#id('word')), retry: this.#policy.onError === 'retry' },
      { kind: 'rejected', message: agentText(this.#id('word')) },
      { kind: 'interrupted', state: 'input-required', message: agentText(this.#id('word')) },
      { kind: 'interrupted', state: 'auth-required', message: agentText(this.#id('word')) },
      { kind: 'handed-back' },
    ];
    return endings[how] ?? { kind: 'succeeded' };
  }

  /** What a handler that waits for new things, besides those that are still open, hands to the decider. */
  #parked(what: readonly number[]): Parked {
    const fresh = what.map((choice): JournalEntry => {
      const dueAt = instant(this.#clock.now() + 20_000);
      const id = this.#id<string>('n');
      if (choice === 0) return sleepEntry(`sleep:${id}`, dueAt);
      if (choice === 1) return signInEntry(`authorize:${id}`);
      if (choice === 2) return askEntry(`ask:${id}`);
      return askEntry(`ask:${id}`, { schema: SCHEMA, ...(choice === 3 ? { dueAt } : {}) });
    });
    const open = [...this.view.open, ...fresh];
    const times = open.flatMap(({ dueAt }) => (dueAt === undefined ? [] : [dueAt]));
    const shown = open.find(({ kind }) => kind === 'ask') ?? open.find(({ kind }) => kind === 'authorize');
    const state = shown?.kind === 'ask' ? 'input-required' : 'auth-required';
    return {
      kind: 'parked',
      suspensions: fresh.map((entry) => ({ turnNo: this.view.turn.turnNo, ...entry })),
      events: [],
      wake: {
        ...(times.length === 0 ? {} : { at: instant(Math.min(...times)) }),
        ...(shown === undefined ? {} : { key: shown.key }),
      },
      ...(shown === undefined ? {} : { status: { state, message: agentText(this.#id('question')) } }),
    };
  }

  /** The worker dies: its runs are orphans, and another process takes its place. */
  async #lose(): Promise<void> {
    await this.#store.buryWorkers({ all: true });
    const workerId = this.#id<WorkerId>('worker');
    this.#worker = {
      workerId,
      workerNo: await this.#store.registerWorker({ workerId, agents: [AGENT], leaseMs: 30_000 }),
    };
  }

  async #sweep(): Promise<void> {
    const no = this.view.task.no;
    const facts = { policy: this.#policy, times: this.#times, runId: this.#id<RunId>('run'), message: agentText };
    const now = this.#clock.now();
    if ((await this.#store.orphans(1)).includes(no)) await this.#swept(decideLost(this.view, facts), 'lost');
    if ((await this.#store.dueTimers(1)).includes(no)) {
      await this.#swept(decideTimer(this.view, { now, runId: this.#id<RunId>('run'), times: this.#times }), 'timer');
    }
    if ((await this.#store.dueDeadlines(1)).includes(no)) {
      await this.#swept(decideDeadline(this.view, { now, message: agentText }), 'deadline');
    }
  }

  async #swept(write: TaskWrite | undefined, mark: string): Promise<void> {
    assert(write !== undefined, `what the store names due is due (${mark})`);
    this.marks.add(mark);
    await this.#command(write);
  }

  async #log(): Promise<readonly StoredEvent[]> {
    const range = { after: 0 as Seq, eventsMax: 10_000, bytesMax: 1e9 };
    return (await this.#store.readEvents(this.view.task.no, range)) ?? [];
  }

  #id<Id extends string>(stem: string): Id {
    this.#ids += 1;
    return `${stem}-${this.#ids}` as Id;
  }
}
