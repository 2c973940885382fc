import { hash } from 'node:crypto';
import { type Clock, type Instant, instant } from '../../src/base/clock.ts';
import { seededRandom } from '../../src/base/random.ts';
import type { StoredEvent } from '../../src/model/event.ts';
import type { ContextId, MessageId, Seq, TaskId, TaskNo } from '../../src/model/ids.ts';
import type { Part } from '../../src/model/message.ts';
import type { Caller } from '../../src/model/scope.ts';
import { isTerminal } from '../../src/model/task.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { checkView } from '../../src/testing/task-invariants.ts';
import { Clients, callerOf, type KnownTask, type SentMessage } from './clients.ts';
import { checkHistory } from './history-checks.ts';
import { Ledger } from './ledger.ts';
import { below, pick, randomScript, scriptText } from './script.ts';
import { SimulatedNode, simulatedConfig, type World } from './simulated-node.ts';
import { fairWeather } from './simulated-store.ts';
import { SimulationClock } from './simulation-clock.ts';

export interface HistoryOptions {
  readonly seed: number;
  /** Things that happen before everything is healed. */
  readonly actions?: number;
}

export interface HistoryReport {
  readonly seed: number;
  readonly simulatedMs: number;
  /** A digest of every log: two runs of one seed have one. */
  readonly digest: string;
  readonly counts: Readonly<Record<string, number>>;
}

const NODES_MAX = 4;
const ACTIONS = 70;
/** Everything that can still be due after the last fault lies within this, many times over. */
const HEALING_MS = 1_000_000;
/** After this, whatever a dead process held is anybody's, and every healthy one has its lease again. */
const LEASES_ARE_OVER_MS = 60_000;

/**
 * Runs one history: several processes on one store, clients, faults and time, all chosen by the seed. Throws at the
 * first broken promise, with the seed in the message.
 */
export async function runHistory(options: HistoryOptions): Promise<HistoryReport> {
  const trace: string[] = [];
  try {
    return await new History(options, trace).run();
  } catch (error) {
    const shown = process.env.SIMULATION_TRACE === undefined ? trace.slice(-15) : trace;
    const text = error instanceof Error ? error.message : String(error);
    const replay = `SIMULATION_SEED=${options.seed} npx vitest run test/simulation`;
    throw new Error(`seed ${options.seed}: ${text}\nReplay: ${replay}\n${shown.join('\n')}`, { cause: error });
  }
}

class History {
  readonly #seed: number;
  readonly #actions: number;
  readonly #trace: string[];
  readonly #random;
  readonly #clock = new SimulationClock();
  readonly #ledger = new Ledger();
  readonly #nodes: SimulatedNode[] = [];
  readonly #faults: Record<string, number> = {};
  #world!: World;
  #clients!: Clients;
  #ids = 0;
  #storeSkewMs = 0;

  constructor({ seed, actions = ACTIONS }: HistoryOptions, trace: string[]) {
    this.#seed = seed;
    this.#actions = actions;
    this.#trace = trace;
    this.#random = seededRandom(seed);
  }

  async run(): Promise<HistoryReport> {
    const storeNow = (): Instant => instant(this.#clock.now() + this.#storeSkewMs);
    const store = await openMemoryStore({ clock: storeClock(this.#clock, storeNow), random: this.#random });
    this.#world = {
      config: {
        totalMaxMs: pick(this.#random, [0, 0, 0, 40_000]),
        concurrency: pick(this.#random, [1, 4, 4]),
        wakeups: pick(this.#random, ['on', 'on', 'on', 'off'] as const),
      },
      clock: this.#clock,
      store,
      random: this.#random,
      ledger: this.#ledger,
      trace: (line) => this.#trace.push(`${this.#clock.elapsedMs.toFixed(0).padStart(7)} ${line}`),
    };
    this.#clients = new Clients(this.#world);
    for (let node = below(this.#random, 3); node >= 0; node -= 1) this.#startNode();
    for (let action = 0; action < this.#actions; action += 1) {
      await this.#pass(this.#random.fraction() ** 2 * 1_500);
      await this.#act();
      await this.#checkViews();
    }
    await this.#heal();
    await this.#stopAll();
    const logs = await checkHistory(this.#world, { clients: this.#clients, nodes: this.#nodes });
    this.#throwBreaches();
    return {
      seed: this.#seed,
      simulatedMs: this.#clock.elapsedMs,
      digest: hash('sha256', JSON.stringify(logs)),
      counts: {
        ...this.#clients.counts,
        ...this.#ledger.counts,
        ...this.#faults,
        ...countEvents(logs),
        tasks: logs.length,
        wakes: this.#clock.wakes,
      },
    };
  }

  async #pass(ms: number, isEnough?: () => boolean): Promise<void> {
    await this.#clock.advance(ms, () => this.#ledger.breaches.length > 0 || isEnough?.() === true);
    this.#throwBreaches();
  }

  async #checkViews(): Promise<void> {
    for (const { taskNo } of this.#clients.tasks.values()) {
      const view = await this.#world.store.readView(taskNo);
      if (view !== undefined) checkView(view, { queuedMax: simulatedConfig.queuedTurnsMax });
    }
  }

  #throwBreaches(): void {
    if (this.#ledger.breaches.length > 0) throw new Error(this.#ledger.breaches.join('\n'));
  }

  async #act(): Promise<void> {
    const choice = this.#random.fraction();
    // Whoever runs processes starts one where none is left; without any, tasks time out, and rightly so.
    if (!this.#nodes.some(({ isWell }) => isWell) && this.#random.fraction() < 0.5) this.#startNode();
    const known = [...this.#clients.tasks.values()];
    if (choice < 0.3 || known.length === 0) this.#submit();
    else if (choice < 0.36) this.#repeat();
    else if (choice < 0.6) await this.#answer(pick(this.#random, known));
    else if (choice < 0.66) this.#atSomeNode((node) => this.#clients.cancel(node, pick(this.#random, known)));
    else if (choice < 0.69) this.#atSomeNode((node) => this.#clients.resume(node, pick(this.#random, known)));
    else if (choice < 0.8) this.#follow(pick(this.#random, known));
    else if (choice < 0.83) this.#leave();
    else if (choice < 0.845) await this.#pass(pick(this.#random, [10_000, 30_000]));
    else if (choice < 0.86) this.#setClock();
    else this.#disturb();
  }

  #submit(): void {
    const agent = pick(this.#random, ['plain', 'plain', 'queueing', 'once']);
    const isNote = this.#random.fraction() < 0.12;
    const text = isNote ? pick(this.#random, ['50', '3000']) : scriptText(randomScript(this.#random));
    const contexts =
      this.#random.fraction() < 0.3 ? { contextId: `context-${below(this.#random, 3)}` as ContextId } : {};
    const caller = callerOf(pick(this.#random, ['ann', 'bob']));
    const sent: SentMessage = {
      agent,
      caller,
      messageId: this.#freshId(isNote ? 'note' : 'message', agent, caller),
      skill: isNote ? 'note' : 'default',
      contents: [[{ kind: 'text', text }], [{ kind: 'text', text: `0${text}` }]],
      ...contexts,
    };
    this.#atSomeNode((node) => this.#clients.send(node, sent));
    if (this.#random.fraction() < 0.2) this.#again(sent);
  }

  /** An id that is new to this agent and scope; now and then another's, whose message is none of theirs. */
  #freshId(stem: string, agent: string, caller: Caller): MessageId {
    const { sent } = this.#clients;
    const other = sent.length > 0 && this.#random.fraction() < 0.15 ? pick(this.#random, sent).messageId : undefined;
    const isOurs = sent.some(
      (known) => known.messageId === other && known.agent === agent && known.caller.scope === caller.scope,
    );
    return other === undefined || isOurs ? (this.#id(stem) as MessageId) : other;
  }

  /** The same message once more, or several times at once, at any node; now and then with other content. */
  #repeat(): void {
    if (this.#clients.sent.length > 0) this.#again(pick(this.#random, this.#clients.sent));
  }

  #again(sent: SentMessage): void {
    const times = 1 + below(this.#random, 3);
    for (let time = 0; time < times; time += 1) {
      const content = this.#random.fraction() < 0.15 ? sent.contents.length - 1 : 0;
      this.#atSomeNode((node) => this.#clients.send(node, sent, content));
    }
  }

  async #answer(task: KnownTask): Promise<void> {
    const { taskId, agent, caller } = task;
    const contents = [await this.#words(task), [{ kind: 'text' as const, text: 'something else' }]];
    const messageId = this.#id('answer') as MessageId;
    const sent: SentMessage = { agent, caller, messageId, skill: 'default', taskId, contents };
    this.#atSomeNode((node) => this.#clients.send(node, sent));
    if (this.#random.fraction() < 0.2) this.#again(sent);
  }

  /** What a client says to a task: an answer to an open question, good, bad or to no question, or work for the next turn. */
  async #words({ taskNo }: KnownTask): Promise<Part[]> {
    const view = await this.#world.store.readView(taskNo);
    const asked = view?.open.filter(({ kind }) => kind !== 'sleep') ?? [];
    const script = scriptText(randomScript(this.#random));
    if (asked.length === 0 || this.#random.fraction() < 0.4) {
      return [{ kind: 'text', text: pick(this.#random, ['7', '0', 'seven', script, script]) }];
    }
    const askId = pick(this.#random, asked).key;
    const answers = [4, 0, 'data', { askId, content: 5 }, { askId, content: 'six' }, { askId, action: 'decline' }];
    return [{ kind: 'data', data: pick(this.#random, [...answers, { askId: 'ask:nobody' }]) }];
  }

  #follow(task: KnownTask): void {
    const { followers } = this.#clients;
    const before = followers.filter((follower) => follower.task.taskId === task.taskId);
    const known = before.length > 0 && this.#random.fraction() < 0.6 ? pick(this.#random, before).place : 0;
    const after = this.#random.fraction() < 0.5 ? known : below(this.#random, known + 1);
    this.#atSomeNode((node) => this.#clients.follow(node, task, after as Seq));
  }

  #leave(): void {
    const following = this.#clients.followers.filter(({ state }) => state === 'following');
    if (following.length > 0) pick(this.#random, following).leave();
  }

  #disturb(): void {
    const choice = this.#random.fraction();
    const alive = this.#nodes.filter(({ state }) => state === 'up' || state === 'starting');
    const busy = alive.filter(({ isBusy }) => isBusy);
    const struck = busy.length > 0 && this.#random.fraction() < 0.7 ? busy : alive;
    const node = struck.length === 0 ? undefined : pick(this.#random, struck);
    if (node === undefined || (choice < 0.25 && alive.length < NODES_MAX)) this.#startNode();
    else if (choice < 0.45) this.#fault('killed', node, () => node.kill());
    else if (choice < 0.55) this.#fault('drained', node, () => node.drain(pick(this.#random, [0, 500, 4_000])));
    else if (choice < 0.7) this.#freeze(node, pick(this.#random, [300, 6_000, 13_000, 25_000]));
    else if (choice < 0.85) this.#blow(node, { failing: pick(this.#random, [0.1, 0.4, 1]), latencyMs: 50 });
    else this.#blow(node, { failing: 0.02, latencyMs: pick(this.#random, [500, 4_000, 15_000]) });
  }

  #freeze(node: SimulatedNode, ms: number): void {
    this.#fault('frozen', node, () => node.freeze());
    this.#clock.after(ms, () => node.thaw());
  }

  #blow(node: SimulatedNode, weather: { readonly failing: number; readonly latencyMs: number }): void {
    this.#fault('storms', node, () => Object.assign(node.weather, weather));
    this.#clock.after(pick(this.#random, [500, 3_000, 10_000]), () => Object.assign(node.weather, fairWeather));
  }

  /** A corrected wall clock, of the database or of a process; nobody may take it for time that passed. */
  #setClock(): void {
    const stepMs = pick(this.#random, [-4_000, -500, 500, 4_000, 9_000]);
    this.#world.trace(`-- a clock is set by ${stepMs}`);
    this.#faults.clocks = (this.#faults.clocks ?? 0) + 1;
    if (this.#random.fraction() < 0.5) this.#storeSkewMs += stepMs;
    else pick(this.#random, this.#nodes).clock.setSkew(stepMs);
  }

  #fault(name: string, node: SimulatedNode, work: () => void): void {
    this.#faults[name] = (this.#faults[name] ?? 0) + 1;
    this.#world.trace(`-- ${node.name} ${name}`);
    work();
  }

  #startNode(): void {
    const node = new SimulatedNode(this.#world, `node-${this.#nodes.length + 1}`);
    this.#nodes.push(node);
    this.#world.trace(`-- ${node.name} starts`);
    node.start();
  }

  /** A frozen node takes requests too; they wait in its socket. */
  #atSomeNode(work: (node: SimulatedNode) => void): void {
    const up = this.#nodes.filter(({ state }) => state === 'up');
    if (up.length > 0) work(pick(this.#random, up));
  }

  #id(stem: string): string {
    this.#ids += 1;
    return `${stem}-${this.#ids}`;
  }

  /** No more faults: whatever was accepted must come to its end by itself, but for questions, some of which are answered. */
  async #heal(): Promise<void> {
    this.#world.trace('-- everything heals');
    for (const node of this.#nodes) {
      Object.assign(node.weather, fairWeather);
      node.thaw();
    }
    if (!this.#nodes.some(({ isWell }) => isWell)) this.#startNode();
    for (const task of this.#clients.tasks.values()) if (this.#random.fraction() < 0.6) await this.#answer(task);
    await this.#pass(LEASES_ARE_OVER_MS);
    this.#clients.expectAnswers();
    for (const sent of this.#clients.sent)
      if (sent.taken === undefined) this.#atSomeNode((node) => this.#clients.send(node, sent));
    let isQuiet = false;
    for (let waitedMs = 0; !isQuiet; waitedMs += 5_000) {
      if (waitedMs > HEALING_MS) throw new Error(`stuck: ${(await this.#unfinished()).join(', ')}`);
      await this.#pass(5_000);
      isQuiet = (await this.#unfinished()).length === 0;
    }
  }

  async #unfinished(): Promise<readonly string[]> {
    const unfinished: string[] = [...this.#clients.unanswered];
    for (let no = 1; ; no += 1) {
      const view = await this.#world.store.readView(no as TaskNo);
      if (view === undefined) break;
      const { task, run } = view;
      if (!isTerminal(task.state)) unfinished.push(`${task.id as TaskId} ${task.state} ${run?.state ?? 'without run'}`);
    }
    const waiting = this.#clients.followers.filter(({ node, state }) => state === 'following' && node.state !== 'down');
    return [...unfinished, ...waiting.map(({ task, place }) => `follower of ${task.taskId} at ${place}`)];
  }

  async #stopAll(): Promise<void> {
    for (const node of this.#nodes) if (node.state !== 'down') node.drain(1_000);
    const isDown = (): boolean => this.#nodes.every(({ state }) => state === 'down');
    await this.#pass(60_000, isDown);
    if (!isDown()) throw new Error('a node does not stop');
    await this.#pass(5_000);
  }
}

/** What happened in the logs, by kind: a history that never went somewhere proves nothing about it. */
function countEvents(logs: readonly (readonly StoredEvent[])[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const event of logs.flat()) {
    const detail =
      event.kind === 'status-changed'
        ? event.state
        : event.kind === 'run-settled'
          ? event.outcome
          : event.kind === 'question-answered'
            ? event.how
            : '';
    const name = `${event.kind} ${detail}`.trim();
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

function storeClock(world: SimulationClock, now: () => Instant): Clock {
  return { now, monotonicMs: () => world.elapsedMs, sleep: (ms) => world.sleep(ms) };
}
