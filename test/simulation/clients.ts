import { errorCode } from '../../src/base/errors.ts';
import type { StoredEvent } from '../../src/model/event.ts';
import type { ContextId, MessageId, Seq, TaskId, TaskNo } from '../../src/model/ids.ts';
import type { Message, Part } from '../../src/model/message.ts';
import type { Caller, Scope } from '../../src/model/scope.ts';
import { isTerminal } from '../../src/model/task.ts';
import type { Submitted } from '../../src/runtime/ports.ts';
import type { SimulatedNode, World } from './simulated-node.ts';

/** One message id of one caller, with everything that was sent under it and what came back. */
export interface SentMessage {
  readonly agent: string;
  readonly caller: Caller;
  readonly messageId: MessageId;
  readonly skill: 'default' | 'note';
  readonly contextId?: ContextId;
  readonly taskId?: TaskId;
  /** The contents that were sent; more than one is a conflict. */
  readonly contents: readonly Part[][];
  /** Where the message went, as the first answer said; with the content it answered. */
  taken?: { readonly content: number; readonly what: Submitted };
}

export interface KnownTask {
  readonly taskId: TaskId;
  readonly taskNo: TaskNo;
  readonly agent: string;
  readonly caller: Caller;
}

/** Answers that a client of a healthy product may get. Anything else, `internal` first of all, is a fault. */
const ANSWERS: readonly string[] = ['unsupported_operation', 'invalid_argument', 'message_id_conflict', 'overloaded'];
const LATER: readonly string[] = ['unavailable'];

export function callerOf(name: string): Caller {
  return { principal: { id: name }, scope: `user=${name}` as Scope };
}

/** The clients of a history: they send, repeat, answer, cancel, resume and follow, and check every answer they get. */
export class Clients {
  readonly sent: SentMessage[] = [];
  readonly tasks = new Map<TaskId, KnownTask>();
  readonly followers: Follower[] = [];
  readonly counts = { requests: 0, unanswered: 0, acknowledged: 0, refused: 0, unavailable: 0, canceled: 0, waits: 0 };
  readonly #world: World;
  /** Requests in hand, with the node that has them. */
  #isHealed = false;
  readonly #open = new Map<symbol, { readonly node: SimulatedNode; readonly what: string }>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Requests that a living node has not answered. */
  get unanswered(): readonly string[] {
    return [...this.#open.values()].filter(({ node }) => node.clock.state !== 'dead').map(({ what }) => what);
  }

  /** From here on nothing is in the way of an answer, so "try later" is none. */
  expectAnswers(): void {
    this.#isHealed = true;
  }

  send(node: SimulatedNode, sent: SentMessage, content = 0): void {
    if (!this.sent.includes(sent)) this.sent.push(sent);
    const message: Message = {
      messageId: sent.messageId,
      role: 'user',
      parts: sent.contents[content] ?? [],
      ...(sent.contextId === undefined ? {} : { contextId: sent.contextId }),
      ...(sent.taskId === undefined ? {} : { taskId: sent.taskId }),
    };
    const agent = agentOf(node, sent.agent);
    const metadata = sent.skill === 'note' ? { metadata: { skillId: 'note' } } : {};
    this.#request(node, `send ${sent.messageId}`, async () => {
      const what = await node.runtime.submit({ caller: sent.caller, agent, message, ...metadata });
      this.#taken(node, sent, { content, what });
    });
  }

  cancel(node: SimulatedNode, { agent, caller, taskId, taskNo }: KnownTask): void {
    const request = { caller, agent: agentOf(node, agent), taskId, signal: new AbortController().signal };
    const work = async (): Promise<void> => {
      await node.runtime.cancel(request);
      this.counts.canceled += 1;
      const view = await this.#world.store.readView(taskNo);
      if (view?.task.state !== 'canceled') this.#breach(`cancel of ${taskId} returned while it is ${view?.task.state}`);
    };
    this.#request(node, `cancel ${taskId}`, work, ['task_not_cancelable']);
  }

  resume(node: SimulatedNode, { agent, caller, taskId }: KnownTask): void {
    const request = { caller, agent: agentOf(node, agent), taskId };
    this.#request(node, `resume ${taskId}`, () => node.runtime.resume(request));
  }

  follow(node: SimulatedNode, task: KnownTask, after: Seq): void {
    this.followers.push(new Follower(this.#world, node, task, after));
  }

  #taken(node: SimulatedNode, sent: SentMessage, taken: NonNullable<SentMessage['taken']>): void {
    this.counts.acknowledged += 1;
    const { what } = taken;
    const before = sent.taken;
    sent.taken ??= taken;
    if (what.kind === 'task') this.#know(node, sent, what);
    if (before === undefined) return;
    if (before.content !== taken.content) this.#breach(`message ${sent.messageId} was taken with two contents`);
    if (!isSamePlace(before.what, what)) this.#breach(`message ${sent.messageId} went to two places`);
  }

  #know(node: SimulatedNode, sent: SentMessage, what: Submitted & { readonly kind: 'task' }): void {
    const { task, taskNo, turnNo, messageSeq } = what;
    this.tasks.set(task.id, { taskId: task.id, taskNo, agent: sent.agent, caller: sent.caller });
    if (this.#world.random.fraction() < 0.7) return;
    this.#request(node, `wait ${sent.messageId}`, async () => {
      await node.runtime.awaitTurn({ taskNo, turnNo, after: messageSeq }, new AbortController().signal);
      this.counts.waits += 1;
    });
  }

  #request(node: SimulatedNode, what: string, work: () => Promise<void>, alsoFine: readonly string[] = []): void {
    const key = Symbol(what);
    this.counts.requests += 1;
    this.#open.set(key, { node, what: `${what} at ${node.name}` });
    const isHealed = this.#isHealed;
    const go = async (): Promise<void> => {
      await node.clock.running();
      this.#world.trace(`${what} at ${node.name}`);
      await work().catch((error: unknown) => this.#refused(what, error, [...(isHealed ? [] : LATER), ...alsoFine]));
      this.#open.delete(key);
    };
    go();
  }

  #refused(what: string, error: unknown, alsoFine: readonly string[]): void {
    const code = errorCode(error);
    if (code === 'unavailable') this.counts.unavailable += 1;
    else this.counts.refused += 1;
    this.#world.trace(`${what}: ${code}`);
    if (ANSWERS.includes(code) || alsoFine.includes(code)) return;
    this.#breach(`${what} was answered ${code}: ${error instanceof Error ? error.stack : String(error)}`);
  }

  #breach(rule: string): void {
    this.#world.ledger.breach(rule);
  }
}

function agentOf(node: SimulatedNode, name: string) {
  const agent = node.agents.find((candidate) => candidate.name === name);
  if (agent === undefined) throw new Error(`no agent ${name}`);
  return agent;
}

function isSamePlace(a: Submitted, b: Submitted): boolean {
  if (a.kind === 'task' && b.kind === 'task') {
    return a.taskNo === b.taskNo && a.turnNo === b.turnNo && a.messageSeq === b.messageSeq;
  }
  return a.kind === 'reply' && b.kind === 'reply' && JSON.stringify(a.message) === JSON.stringify(b.message);
}

/** One reader of one log: everything after its place, in order, once each, until the end. */
export class Follower {
  readonly task: KnownTask;
  readonly node: SimulatedNode;
  readonly after: Seq;
  readonly seen: StoredEvent[] = [];
  state: 'following' | 'ended' | 'left' | 'sent away' = 'following';
  readonly #world: World;
  readonly #leave = new AbortController();

  constructor(world: World, node: SimulatedNode, task: KnownTask, after: Seq) {
    this.#world = world;
    this.node = node;
    this.task = task;
    this.after = after;
    const isSlow = world.random.fraction() < 0.3;
    this.#follow(isSlow).catch((error: unknown) => {
      if (errorCode(error) !== 'unavailable') world.ledger.breach(`a follower failed: ${String(error)}`);
      this.state = 'sent away';
    });
  }

  /** The last event it has. */
  get place(): Seq {
    return this.seen.at(-1)?.seq ?? this.after;
  }

  leave(): void {
    this.node.clock.whenRunning(() => {
      if (this.state === 'following') this.state = 'left';
      this.#leave.abort();
    });
  }

  async #follow(isSlow: boolean): Promise<void> {
    await this.node.clock.running();
    const from = { after: this.after, signal: this.#leave.signal };
    const feed = this.node.runtime.follow(this.task.taskNo, from)[Symbol.asyncIterator]();
    for (;;) {
      await this.node.clock.running();
      const { done, value } = await feed.next();
      if (done === true) break;
      for (const item of value) {
        if (item.kind === 'event') this.#see(item.event);
        else if (item.kind === 'going-away') this.state = 'sent away';
        else this.#world.ledger.breach(`task ${this.task.taskId} is said to be gone`);
      }
      if (isSlow) await this.#world.clock.sleep(1_500);
    }
    if (this.state !== 'following') return;
    this.state = 'ended';
    const last = this.seen.at(-1);
    const isEnd = last === undefined || (last.kind === 'status-changed' && isTerminal(last.state));
    if (!isEnd) this.#world.ledger.breach(`a follower of ${this.task.taskId} ended at ${this.place}, before the end`);
  }

  #see(event: StoredEvent): void {
    if (this.state === 'left') this.#world.ledger.breach('a follower that left was told more');
    if (event.seq !== this.place + 1) {
      this.#world.ledger.breach(`a follower of ${this.task.taskId} at ${this.place} was given ${event.seq}`);
    }
    this.seen.push(event);
  }
}
