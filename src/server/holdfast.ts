import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Agent } from '../agent/definition.ts';
import { noAuthentication } from '../auth/no-authentication.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import { type Logger, silentLogger } from '../base/log.ts';
import { type Random, systemRandom } from '../base/random.ts';
import { createIdSource } from '../base/unique-id.ts';
import { allowsOrigin } from '../bindings/http/cors.ts';
import type { HttpBinding } from '../bindings/http/exchange.ts';
import { createMetrics } from '../observability/metrics.ts';
import type { Authenticator } from '../operations/authenticator.ts';
import { type Permits, permitsEverything } from '../operations/verb.ts';
import type { Runtime } from '../runtime/ports.ts';
import { createRuntime } from '../runtime/runtime.ts';
import { createSecrets } from '../runtime/secrets.ts';
import type { SystemStore } from '../store/contract.ts';
import { instrumentStore } from '../store/instrumented.ts';
import { createAgentDirectory } from './agent-directory.ts';
import { type Config, type ConfigInput, readConfig } from './config.ts';
import { type OpenedStore, openStore, type StoreChoice } from './open-store.ts';
import { givenRootKey, ownRootKey } from './root-key.ts';
import { type ListenPlace, RunningServer } from './running-server.ts';
import { runtimeConfig } from './runtime-config.ts';

export interface HoldfastOptions {
  /** What is served; the first is the default agent unless `config.defaultAgent` names another. */
  readonly agents: readonly Agent[];
  /** `memory`, `sqlite:PATH`, `postgres://…`, or a store of your own, which you close. Default `memory`. */
  readonly store?: StoreChoice;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 4000; 0 picks a free one. */
  readonly port?: number;
  /** The address clients use, where it is not the one that is listened on. */
  readonly publicUrl?: string;
  /** Who may call. By default nobody is asked, and only this machine may. */
  readonly auth?: Authenticator;
  /** Which operations a principal may call; all of them by default. */
  readonly permits?: Permits;
  readonly config?: ConfigInput;
  /** Settings in the environment, `HOLDFAST_…`; those of the process by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly logger?: Logger;
  /** The root of all keys, the same on every node. Default: HOLDFAST_SECRETS_KEY, a file beside SQLite, a random one in memory. */
  readonly secretsKey?: string;
  /** False refuses a store with an older schema in place of migrating it. */
  readonly migrate?: boolean;
  /** A handler's real error text goes to the client; for development. */
  readonly showErrors?: boolean;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** A server that is running: its runtime works as soon as it is made, its port opens with `listen`. */
export interface Holdfast {
  /**
   * Opens the port and resolves with the address clients use, and the one of the port itself where `publicUrl` is another.
   * Throws one clear line when the port is taken.
   */
  listen(): Promise<{ readonly url: string; readonly localUrl: string }>;
  /** For a server of your own: answers every request that it is given. */
  readonly nodeHandler: (request: IncomingMessage, response: ServerResponse) => void;
  /** The doors as a function of values. */
  readonly handle: HttpBinding;
  readonly runtime: Runtime;
  readonly store: SystemStore;
  readonly agents: readonly Agent[];
  readonly config: Config;
  readonly authenticator: Authenticator;
  /** Drains: no more work is taken, runs end or are handed back, streams get a last word, then everything closes. Safe to call twice. */
  close(drainMaxMs?: number): Promise<void>;
}

/** Puts a server together and starts its runtime. Whatever keeps it from starting is one clear line, and leaves nothing open. */
export async function createHoldfast(options: HoldfastOptions): Promise<Holdfast> {
  const config = readConfig(options.config, options.env ?? process.env);
  const place = placeOf(options, config);
  const agents = createAgentDirectory(options.agents, config.defaultAgent);
  const log = options.logger ?? silentLogger;
  const clock = options.clock ?? systemClock;
  const migrate = options.migrate ?? true;
  const choice = options.store ?? config.store ?? 'memory';
  const given = givenRootKey(options.secretsKey ?? (options.env ?? process.env).HOLDFAST_SECRETS_KEY, choice);
  const opened = await openStore(choice, { clock, logger: log, migrate });
  try {
    const key = given ?? ownRootKey(opened, options.random ?? systemRandom);
    return await start(options, { config, place, agents, log, clock, opened, key });
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function start(
  options: HoldfastOptions,
  ready: {
    readonly config: Config;
    readonly place: ListenPlace;
    readonly agents: ReturnType<typeof createAgentDirectory>;
    readonly log: Logger;
    readonly clock: Clock;
    readonly opened: OpenedStore;
    readonly key: Uint8Array;
  },
): Promise<Holdfast> {
  const { config, place, agents, log, clock, opened } = ready;
  const random = options.random ?? systemRandom;
  const secrets = createSecrets(ready.key, random);
  const newId = createIdSource({ clock, random });
  const metrics = createMetrics({ clock, counts: () => opened.store.stats() });
  const store = instrumentStore(opened.store, metrics.measureStore);
  const shared = { agents, log, clock, newId, secrets, store };
  const system = await createRuntime({
    ...shared,
    random,
    config: runtimeConfig(config, {
      ownsStore: opened.store.name !== 'postgres',
      showErrors: options.showErrors ?? false,
    }),
  });
  const server = new RunningServer({
    server: {
      ...shared,
      config,
      metrics,
      runtime: system.runtime,
      authenticator: options.auth ?? noAuthenticationOf(config),
      permits: options.permits ?? permitsEverything,
    },
    opened,
    system,
    place,
  });
  try {
    await server.ready();
    await system.service.start();
  } catch (error) {
    await system.service.stop(clock.now());
    throw error;
  }
  return server;
}

const HOST_DEFAULT = '127.0.0.1';
const PORT_DEFAULT = 4000;

function placeOf(options: HoldfastOptions, config: Config): ListenPlace {
  const publicUrl = options.publicUrl ?? config.publicUrl;
  if (publicUrl !== undefined && !/^https?:\/\/[^/?#]+[^?#]*$/.test(publicUrl)) {
    throw new CodedError('invalid_argument', {
      message: `publicUrl: "${publicUrl}" is no address. Write one such as https://agents.example.com/holdfast.`,
    });
  }
  return {
    host: options.host ?? config.host ?? HOST_DEFAULT,
    port: options.port ?? config.port ?? PORT_DEFAULT,
    ...(publicUrl === undefined ? {} : { publicUrl }),
  };
}

function noAuthenticationOf({ allowAnonymous, publicUrl, cors }: Config): Authenticator {
  return noAuthentication({
    allowAnonymous,
    allowsOrigin: (origin) => allowsOrigin(cors, origin),
    ...(publicUrl === undefined ? {} : { publicUrl }),
  });
}
