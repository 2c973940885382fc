import { defineAgent } from '../agent/define-agent.ts';
import type { Agent } from '../agent/definition.ts';
import type { Schema } from '../agent/schema.ts';
import { assert } from '../base/assert.ts';
import { type Instant, instant } from '../base/clock.ts';
import type { LogFields, Logger } from '../base/log.ts';
import { seededRandom } from '../base/random.ts';
import { createIdSource } from '../base/unique-id.ts';
import type { NewEvent, StoredEvent } from '../model/event.ts';
import type { AgentName, ArtifactId, MessageId, RunId, Seq, TaskNo } from '../model/ids.ts';
import type { Message, Part } from '../model/message.ts';
import { decideSettle, type Ending } from '../model/run-decide.ts';
import { anonymousCaller, type Caller, type Scope } from '../model/scope.ts';
import { defaultRunTimes } from '../model/task-policy.ts';
import type { FeedItem, RuntimeConfig, SendRequest, Submitted } from '../runtime/ports.ts';
import { createRuntime, type RuntimeOptions, type RuntimeSystem } from '../runtime/runtime.ts';
import { createSecrets } from '../runtime/secrets.ts';
import type { CommandResult, Grant, SystemStore } from '../store/contract.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { createScriptedEngine, type ScriptedEngine } from './scripted-engine.ts';

interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

export interface NodeOptions {
  readonly clock?: FakeClock;
  /** Shared between nodes to make them replicas. */
  readonly store?: SystemStore;
  readonly agents?: readonly Agent[];
  readonly config?: Partial<RuntimeConfig>;
  readonly seed?: number;
  /** `lease`: the real engine instead of one that a test drives. */
  readonly engine?: 'scripted' | 'lease';
  readonly slots?: number;
  readonly wakeups?: 'on' | 'off';
}

/** One process of the runtime on a memory store and a fake clock, with a hand on everything. */
export interface RuntimeNode {
  readonly system: RuntimeSystem;
  readonly runtime: RuntimeSystem['runtime'];
  readonly clock: FakeClock;
  readonly store: SystemStore;
  readonly engine: ScriptedEngine;
  readonly agent: Agent;
  readonly config: RuntimeConfig;
  readonly logged: readonly LogEntry[];
  start(): Promise<void>;
  stop(): Promise<void>;
  send(message: string | Partial<Message>, options?: SendOptions): Promise<Submitted>;
  /** The same, for messages that go to a task. */
  sendTask(message: string | Partial<Message>, options?: SendOptions): Promise<Extract<Submitted, { kind: 'task' }>>;
  /** Writes what a run emits, as the engine would, and tells the hub. */
  emit(grant: Grant, ...events: readonly NewEvent[]): Promise<readonly StoredEvent[]>;
  /** Ends a run as the engine would. */
  settle(grant: Grant, ending: Ending): Promise<CommandResult>;
  log(taskNo: TaskNo): Promise<readonly StoredEvent[]>;
}

interface SendOptions {
  readonly agent?: Agent;
  readonly caller?: Caller;
  readonly metadata?: SendRequest['metadata'];
  readonly traceId?: string;
}

const testConfig: RuntimeConfig = {
  times: { ...defaultRunTimes, idleMaxMs: 60_000 },
  concurrency: 10,
  leaseMs: 30_000,
  sweepMs: 5_000,
  pollMs: 1_000,
  sendWaitMaxMs: 300_000,
  replyKeepMs: 86_400_000,
  queuedTurnsMax: 16,
  ownsStore: false,
  showErrors: false,
};

/** Echoes; the scripted engine never calls it. */
export const echoAgent: Agent = defineAgent({ name: 'echo', description: 'Echoes.', run: (turn) => turn.text });

/** The input of a skill that takes `{ cents }` above zero. */
export const positiveCents: Schema = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) =>
      typeof value === 'object' && value !== null && 'cents' in value && Number(value.cents) > 0
        ? { value }
        : { issues: [{ message: 'must be positive', path: ['cents'] }] },
  },
};

export function callerNamed(name: string): Caller {
  return { principal: { id: name }, scope: `user=${name}` as Scope };
}

export function textMessage(messageId: string, text: string, more: Partial<Message> = {}): Message {
  return { messageId: messageId as MessageId, role: 'user', parts: [{ kind: 'text', text }], ...more };
}

/** One chunk of an output artifact. */
export function chunk(
  grant: Grant,
  text: string,
  options: { readonly append?: boolean; readonly last?: boolean } = {},
) {
  const append = options.append ?? true;
  return {
    kind: 'artifact-updated',
    artifactId: 'out' as ArtifactId,
    origin: 'output',
    turnNo: grant.turn.turnNo,
    runNo: grant.runNo,
    parts: [{ kind: 'text', text }] as readonly Part[],
    append,
    lastChunk: options.last ?? false,
    ...(append ? {} : { header: {} }),
  } as const satisfies NewEvent;
}

export async function createNode(options: NodeOptions = {}): Promise<RuntimeNode> {
  const clock = options.clock ?? createFakeClock();
  const random = seededRandom(options.seed ?? 1);
  const store = options.store ?? (await openMemoryStore({ clock, random }));
  const agents = options.agents ?? [echoAgent];
  const agent = agents[0];
  assert(agent !== undefined, 'a node serves an agent');
  const config = { ...testConfig, ...options.config };
  const engine = createScriptedEngine(options.slots ?? config.concurrency);
  const newId = createIdSource({ clock, random, pool: 1_000 });
  const logged: LogEntry[] = [];
  const runtimeOptions: RuntimeOptions = {
    store,
    agents: {
      all: agents,
      defaultAgent: agent,
      find: (name: AgentName) => agents.find((candidate) => candidate.name === name),
    },
    clock,
    random,
    newId,
    log: keepingLog(logged),
    config,
    secrets: createSecrets(new Uint8Array(32).fill(7), random),
    ...(options.engine === 'lease' ? {} : { createEngine: () => engine }),
    ...(options.wakeups === undefined ? {} : { wakeups: options.wakeups }),
  };
  const system = await createRuntime(runtimeOptions);
  return handle({ system, store, clock, engine, agent, config, logged, newId });
}

function handle(given: {
  readonly system: RuntimeSystem;
  readonly store: SystemStore;
  readonly clock: FakeClock;
  readonly engine: ScriptedEngine;
  readonly agent: Agent;
  readonly config: RuntimeConfig;
  readonly logged: readonly LogEntry[];
  readonly newId: () => string;
}): RuntimeNode {
  const { system, store, clock, newId } = given;
  const emitted = new Map<string, number>();
  const node: RuntimeNode = {
    ...given,
    runtime: system.runtime,
    start: () => system.service.start(),
    stop: () => system.service.stop(clock.now()),
    send: (message, options = {}) =>
      system.runtime.submit({
        caller: options.caller ?? anonymousCaller,
        agent: options.agent ?? given.agent,
        message:
          typeof message === 'string'
            ? textMessage(newId(), message)
            : { ...textMessage(newId(), 'hello'), ...message },
        ...(options.metadata === undefined ? {} : { metadata: options.metadata }),
        ...(options.traceId === undefined ? {} : { traceId: options.traceId }),
      }),
    async sendTask(message, options) {
      const submitted = await node.send(message, options);
      assert(submitted.kind === 'task', 'the message went to a task');
      return submitted;
    },
    async emit(grant, ...events) {
      const emitNo = emitted.get(grant.runId) ?? 0;
      emitted.set(grant.runId, emitNo + events.length);
      const facts = events.map((event) => ({ kind: 'event', event }) as const);
      const result = await store.append(grant, { emitNo, facts });
      system.hub.publish(grant.taskNo, result.events);
      return result.events;
    },
    async settle(grant, ending) {
      const view = await store.readView(grant.taskNo);
      assert(view !== undefined, 'the task is there');
      const policy = { whenBusy: 'reject', cancel: 'any', onCrash: 'retry', onError: 'fail', crashesMax: 5 } as const;
      const write = decideSettle(view, ending, { policy, times: given.config.times, runId: newId() as RunId });
      const emitNo = emitted.get(grant.runId) ?? 0;
      const result = await store.settle(grant, { emitNo, facts: [], headSeq: view.task.headSeq, write });
      if (result.kind === 'written') system.hub.publish(grant.taskNo, result.events);
      if (write.runs?.some((run) => run.kind === 'queue')) system.hub.runnable();
      given.engine.release(grant.taskNo);
      return result;
    },
    log: (taskNo) => readLog(store, taskNo),
  };
  return node;
}

/** The whole log of a task. */
export async function readLog(store: SystemStore, taskNo: TaskNo): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (;;) {
    const after = (events.at(-1)?.seq ?? 0) as Seq;
    const page = await store.readEvents(taskNo, { after, eventsMax: 500, bytesMax: 1 << 24 });
    assert(page !== undefined, 'the task is there');
    if (page.length === 0) return events;
    events.push(...page);
  }
}

/** Reads a feed to its end: the events, and the last word where there is one. */
export async function collect(
  feed: AsyncIterable<readonly FeedItem[]>,
  each: (event: StoredEvent) => void | Promise<void> = () => {},
): Promise<{ readonly events: readonly StoredEvent[]; readonly lastWord: FeedItem['kind'] | undefined }> {
  const events: StoredEvent[] = [];
  let lastWord: FeedItem['kind'] | undefined;
  for await (const items of feed) {
    for (const item of items) {
      lastWord = item.kind === 'event' ? undefined : item.kind;
      if (item.kind !== 'event') continue;
      events.push(item.event);
      await each(item.event);
    }
  }
  return { events, lastWord };
}

function keepingLog(logged: LogEntry[], inherited: LogFields = {}): Logger {
  const keep =
    (level: LogEntry['level']) =>
    (message: string, fields: LogFields = {}): void => {
      logged.push({ level, message, fields: { ...inherited, ...fields } });
    };
  return {
    debug: keep('debug'),
    info: keep('info'),
    warn: keep('warn'),
    error: keep('error'),
    child: (fields) => keepingLog(logged, { ...inherited, ...fields }),
  };
}

/** An hour from now on a node's clock. */
export function later(clock: FakeClock, ms = 3_600_000): Instant {
  return instant(clock.now() + ms);
}

export const never: AbortSignal = new AbortController().signal;
