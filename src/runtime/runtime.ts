import { assert } from '../base/assert.ts';
import type { Instant } from '../base/clock.ts';
import type { Service } from '../base/service.ts';
import type { AgentName } from '../model/ids.ts';
import { awaitTurn } from './await-turn.ts';
import { BlobSlices } from './blobs.ts';
import { cancelTask } from './cancel.ts';
import { createClaimLoop } from './claim-loop.ts';
import { contentAt } from './content-at.ts';
import { createEngine as createLeaseEngine } from './executor.ts';
import { followTask } from './feed.ts';
import { createHub, type Hub, type HubOptions } from './hub.ts';
import { InTurn } from './in-turn.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { Patience } from './patience.ts';
import { createPollLoop } from './poll-loop.ts';
import type { Engine, Runtime, RuntimeParts } from './ports.ts';
import { createReplies, type Replies } from './reply-submit.ts';
import { resumeTask } from './resume.ts';
import { createSlotBook } from './slot-book.ts';
import { type SubmitParts, submitMessage } from './submit.ts';
import { createSweeper, type Sweeper } from './sweeper.ts';
import { createWakeups, RUNNABLE, SLOT_FREED } from './wakeups.ts';

export interface RuntimeOptions extends Omit<RuntimeParts, 'hub'> {
  /** What executes granted runs; the lease engine by default. */
  readonly createEngine?: (parts: RuntimeParts) => Engine;
  /** `off`: nothing is told within the process and the polls work alone. For tests of just that. */
  readonly wakeups?: 'on' | 'off';
}

/** A runtime with everything in it that has to be started and stopped. */
export interface RuntimeSystem {
  readonly runtime: Runtime;
  /** Start it before the doors open, stop it after they close: it drains, then hands back what is left. */
  readonly service: Service;
  readonly engine: Engine;
  readonly hub: Hub;
  readonly sweeper: Pick<Sweeper, 'sweep'>;
}

interface Assembled {
  readonly parts: RuntimeParts & { readonly hub: Hub };
  readonly engine: Engine;
  readonly lease: LeaseKeeper;
  readonly replies: Replies;
  readonly sweeper: Sweeper;
  readonly polls: Service;
  readonly claims: Service;
  readonly submit: SubmitParts;
  readonly patience: Patience;
}

/** Puts the runtime together on one store. Reads the store's identity and writes nothing until it is started. */
export async function createRuntime(options: RuntimeOptions): Promise<RuntimeSystem> {
  const { incarnation } = await options.store.installation();
  const state = { isDraining: false };
  const assembled = assemble(options, () => state.isDraining);
  return {
    runtime: runtimeOf(assembled, { incarnation, isDraining: () => state.isDraining }),
    service: new RuntimeService(assembled, () => {
      state.isDraining = true;
    }),
    engine: assembled.engine,
    hub: assembled.parts.hub,
    sweeper: assembled.sweeper,
  };
}

function assemble(options: RuntimeOptions, isDraining: () => boolean): Assembled {
  const { createEngine = createLeaseEngine, wakeups: mode, ...given } = options;
  const wakeups = createWakeups(given.clock);
  let observe: NonNullable<HubOptions['observe']> = () => {};
  const heard = createHub({ runnable: () => wakeups.wake(RUNNABLE), observe: (events) => observe(events) });
  const hub = mode === 'off' ? silent(heard) : heard;
  const parts = { ...given, hub };
  const engine = createEngine(parts);
  const lease = new LeaseKeeper({
    ...given,
    agents: given.agents.all.map((agent) => agent.name as AgentName),
    leaseMs: given.config.leaseMs,
    onLost: () => engine.loseAll(),
  });
  const slots = createSlotBook(engine, () => wakeups.wake(SLOT_FREED));
  const replies = createReplies({ ...parts, lease, wakeups });
  const shared = { ...parts, engine, lease, slots, wakeups };
  const sweeper = createSweeper({ ...shared, chores: [() => replies.retryDrops()] });
  observe = (events) => sweeper.observe(events);
  return {
    parts,
    engine,
    lease,
    replies,
    sweeper,
    polls: createPollLoop(shared),
    claims: createClaimLoop(shared),
    patience: new Patience(given.clock, given.config.sendWaitMaxMs),
    submit: { ...shared, replies, uploads: new InTurn(), isDraining },
  };
}

/** A hub that is told nothing, so that followers live on the poll. */
function silent(hub: Hub): Hub {
  return {
    publish: () => {},
    publishGone: (taskNo) => hub.publishGone(taskNo),
    runnable: () => {},
    attach: (taskNo) => hub.attach(taskNo),
    waiting: () => hub.waiting(),
    hint: (taskNo, headSeq) => hub.hint(taskNo, headSeq),
    close: () => hub.close(),
    counts: () => hub.counts(),
  };
}

function runtimeOf(
  { parts, engine, submit, patience }: Assembled,
  facts: { readonly incarnation: string; readonly isDraining: () => boolean },
): Runtime {
  const { store } = parts;
  const slices = new BlobSlices(store);
  return {
    submit: (request) => submitMessage(submit, request),
    awaitTurn: (at, signal) => awaitTurn({ ...parts, patience }, at, signal),
    cancel: (request) => cancelTask({ ...parts, engine }, request),
    resume: (request) => resumeTask(submit, request),
    follow: (taskNo, from) => followTask(parts, taskNo, from),
    snapshot: ({ agent, caller, taskId }, want) =>
      store.scoped(agent.name as AgentName, caller.scope).readSnapshot(taskId, want),
    contentAt: (taskNo, at) => contentAt(store, taskNo, at),
    readBlob: (blob) => slices.of(blob),
    incarnation: facts.incarnation,
    get draining() {
      return facts.isDraining();
    },
  };
}

/**
 * Starts and stops the runtime's services in their order.
 *
 * Start: a lease first; where one process owns the store, whatever other workers held is taken over and swept before
 * anything is served. Stop: no more claims; runs and replies end until the deadline or are handed back; followers get
 * their last word; the lease goes last, since it covers all of that. It starts once.
 */
class RuntimeService implements Service {
  readonly name = 'runtime';
  readonly #assembled: Assembled;
  readonly #beginDraining: () => void;
  #started: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;

  constructor(assembled: Assembled, beginDraining: () => void) {
    this.#assembled = assembled;
    this.#beginDraining = beginDraining;
  }

  async start(): Promise<void> {
    assert(this.#stopped === undefined, 'a runtime that was stopped stays stopped');
    this.#started ??= this.#start();
    await this.#started;
  }

  async stop(deadline: Instant): Promise<void> {
    if (this.#started === undefined) return;
    this.#stopped ??= this.#stop(this.#started, deadline);
    await this.#stopped;
  }

  async #start(): Promise<void> {
    const { parts, lease, sweeper, polls, claims } = this.#assembled;
    await lease.start();
    if (parts.config.ownsStore) {
      const own = lease.worker();
      await parts.store.buryWorkers({ all: true, ...(own === undefined ? {} : { except: own.workerNo }) });
      await sweeper.sweep(new AbortController().signal);
    }
    for (const service of [sweeper, polls, claims]) await service.start();
  }

  async #stop(started: Promise<void>, deadline: Instant): Promise<void> {
    const { parts, engine, lease, replies, sweeper, polls, claims, patience } = this.#assembled;
    this.#beginDraining();
    await started.catch(() => 'what was started is stopped all the same');
    await claims.stop(deadline);
    await Promise.all([engine.drain(deadline), replies.stop(deadline)]);
    parts.hub.close();
    patience.stop();
    for (const service of [sweeper, polls, lease]) await service.stop(deadline);
  }
}
