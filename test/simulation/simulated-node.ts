import type { Agent } from '../../src/agent/definition.ts';
import { instant } from '../../src/base/clock.ts';
import { isCodedError } from '../../src/base/errors.ts';
import type { LogFields, Logger } from '../../src/base/log.ts';
import type { Random } from '../../src/base/random.ts';
import { seededRandom } from '../../src/base/random.ts';
import { createIdSource } from '../../src/base/unique-id.ts';
import type { AgentName } from '../../src/model/ids.ts';
import type { Runtime, RuntimeConfig } from '../../src/runtime/ports.ts';
import { createRuntime, type RuntimeSystem } from '../../src/runtime/runtime.ts';
import { createSecrets } from '../../src/runtime/secrets.ts';
import type { SystemStore } from '../../src/store/contract.ts';
import type { Ledger } from './ledger.ts';
import { simulatedAgents } from './simulated-agent.ts';
import { fairWeather, simulatedStore, type Weather } from './simulated-store.ts';
import { ProcessClock, type SimulationClock } from './simulation-clock.ts';

/** Short times, so that every limit is met within a history. Idle and queued runs must never come near theirs. */
export const simulatedConfig: RuntimeConfig = {
  times: { cancelGraceMs: 2_000, idleMaxMs: 45_000, totalMaxMs: 0, interruptedMaxMs: 25_000, queuedMaxMs: 1_000_000 },
  concurrency: 4,
  leaseMs: 8_000,
  sweepMs: 2_000,
  pollMs: 1_000,
  sendWaitMaxMs: 20_000,
  replyKeepMs: 3_600_000,
  queuedTurnsMax: 3,
  ownsStore: false,
  showErrors: false,
};

/** What differs from one history to the next. */
interface HistoryConfig {
  readonly totalMaxMs: number;
  readonly concurrency: number;
  readonly wakeups: 'on' | 'off';
}

export interface World {
  readonly config: HistoryConfig;
  readonly clock: SimulationClock;
  readonly store: SystemStore;
  readonly random: Random;
  readonly ledger: Ledger;
  trace(line: string): void;
}

/** Who may be told what: `up` nodes take requests, `draining` ones end what they have, `down` ones are gone. */
export type NodeState = 'starting' | 'up' | 'draining' | 'down';

/** One process of the simulation: its own runtime, engine and services, on the store that all of them share. */
export class SimulatedNode {
  readonly name: string;
  readonly clock: ProcessClock;
  readonly weather: Weather = { ...fairWeather };
  readonly agents: readonly Agent[];
  state: NodeState = 'starting';
  readonly #world: World;
  #system: RuntimeSystem | undefined;

  constructor(world: World, name: string) {
    this.#world = world;
    this.name = name;
    this.clock = new ProcessClock(world.clock, Math.round((world.random.fraction() - 0.5) * 800));
    this.agents = simulatedAgents({ clock: this.clock, ledger: world.ledger });
  }

  /** Starts it, again and again while the store is away, as whoever runs a process would. */
  start(): void {
    const go = async (): Promise<void> => {
      while (this.state === 'starting') {
        try {
          const system = await this.#create();
          if (this.state !== 'starting') return;
          this.#system = system;
          await system.service.start();
          if (this.state === 'starting') this.state = 'up';
        } catch (error) {
          if (!isCodedError(error)) throw error;
          await this.clock.sleep(500, new AbortController().signal);
        }
      }
    };
    this.#settle('start', go());
  }

  /** Whether it can take and do work now. */
  get isWell(): boolean {
    return (this.state === 'up' || this.state === 'starting') && this.clock.state === 'running';
  }

  get isBusy(): boolean {
    return (this.#system?.engine.held().length ?? 0) > 0;
  }

  get runtime(): Runtime {
    if (this.#system === undefined) throw new Error(`${this.name} has no runtime yet`);
    return this.#system.runtime;
  }

  get system(): RuntimeSystem | undefined {
    return this.#system;
  }

  /** kill -9: whatever it did stands still for ever, and nobody is told. */
  kill(): void {
    this.state = 'down';
    this.clock.kill();
  }

  freeze(): void {
    this.clock.freeze();
  }

  thaw(): void {
    this.clock.thaw(this.#world.random);
  }

  /** SIGTERM, with `graceMs` for what runs. */
  drain(graceMs: number): void {
    this.state = 'draining';
    const go = async (): Promise<void> => {
      await this.#system?.service.stop(instant(this.clock.now() + graceMs));
      this.state = 'down';
      const left = this.#system?.engine.held().length ?? 0;
      if (left > 0) this.#world.ledger.breach(`${this.name} holds ${left} runs after its drain`);
    };
    this.#settle('drain', go());
  }

  #settle(what: string, work: Promise<void>): void {
    work.catch((error: unknown) => this.#world.ledger.breach(`${this.name} failed to ${what}: ${String(error)}`));
  }

  #create(): Promise<RuntimeSystem> {
    const { world, clock, agents } = { world: this.#world, clock: this.clock, agents: this.agents };
    const random = seededRandom(Math.floor(world.random.fraction() * 2 ** 32));
    const line = { world: world.clock, process: clock, random: world.random, weather: this.weather };
    return createRuntime({
      store: simulatedStore(world.store, { ...line, ledger: world.ledger }),
      agents: {
        all: agents,
        defaultAgent: agents[0] as Agent,
        find: (name: AgentName) => agents.find((agent) => agent.name === name),
      },
      clock,
      random,
      newId: createIdSource({ clock, random, pool: 1_000 }),
      log: this.#logger({}),
      config: configOf(this.#world.config),
      wakeups: this.#world.config.wakeups,
      secrets: createSecrets(new Uint8Array(32).fill(7), random),
    });
  }

  /** Broken promises of our own code are logged by the loops that outlive them; here they end the history. */
  #logger(inherited: LogFields): Logger {
    const see = (message: string, fields: LogFields = {}): void => {
      const { error } = fields;
      const isOurs = error instanceof Error && !isCodedError(error) && BROKEN.includes(error.name);
      if (isOurs) this.#world.ledger.breach(`${this.name} logged "${message}": ${error.stack}`);
      this.#world.trace(`${this.name} ${message}`);
    };
    const loud = (message: string, fields: LogFields = {}): void => {
      see(message, fields);
      if (message.startsWith('run could not be settled')) {
        this.#world.ledger.breach(`${this.name} logged "${message}": ${String(fields.error)}`);
      }
    };
    return {
      debug: () => {},
      info: see,
      warn: see,
      error: loud,
      child: (fields) => this.#logger({ ...inherited, ...fields }),
    };
  }
}

function configOf({ totalMaxMs, concurrency }: HistoryConfig): RuntimeConfig {
  return { ...simulatedConfig, concurrency, times: { ...simulatedConfig.times, totalMaxMs } };
}

const BROKEN = ['AssertionError', 'TypeError', 'RangeError', 'ReferenceError', 'Error'];
