import type { Agent } from '../agent/definition.ts';
import type { Clock } from '../base/clock.ts';
import type { LogFields, Logger } from '../base/log.ts';
import { systemRandom } from '../base/random.ts';
import type { HttpRequest, HttpResponse } from '../bindings/http/exchange.ts';
import type { Authenticator } from '../operations/authenticator.ts';
import type { Permits } from '../operations/verb.ts';
import type { Runtime } from '../runtime/ports.ts';
import type { ConfigInput } from '../server/config.ts';
import { createHoldfast, type Holdfast } from '../server/holdfast.ts';
import type { StoreChoice } from '../server/open-store.ts';
import type { SystemStore } from '../store/contract.ts';

export interface WorldOptions {
  readonly agents: readonly Agent[];
  /** Default `memory`. */
  readonly store?: StoreChoice;
  readonly auth?: Authenticator;
  readonly permits?: Permits;
  readonly config?: ConfigInput;
  readonly clock?: Clock;
  readonly publicUrl?: string;
}

/** A log line as it was written: its fields, with its message and level beside them. */
type LogLine = LogFields & { readonly msg: string; readonly level: string };

/** A whole server: real doors, real runtime, a store; over a port or as a function of values. */
export interface ServerWorld {
  readonly url: string;
  /** Calls the doors in this process. What is left out is empty. */
  handle(request: Partial<HttpRequest> & { readonly path: string }): Promise<HttpResponse>;
  readonly runtime: Runtime;
  readonly store: SystemStore;
  readonly holdfast: Holdfast;
  logLines(): readonly LogLine[];
  close(drainMaxMs?: number): Promise<void>;
}

/** Starts a server on a free port. Its own environment is empty, so that the machine's settings touch no test. */
export async function startWorld(options: WorldOptions): Promise<ServerWorld> {
  const { agents, store = 'memory', auth, permits, config, clock, publicUrl } = options;
  const lines: LogLine[] = [];
  const holdfast = await createHoldfast({
    agents,
    store,
    port: 0,
    env: {},
    logger: keepingLogger(lines),
    secretsKey: Buffer.from(systemRandom.bytes(32)).toString('base64'),
    ...(auth === undefined ? {} : { auth }),
    ...(permits === undefined ? {} : { permits }),
    ...(config === undefined ? {} : { config }),
    ...(clock === undefined ? {} : { clock }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
  });
  const { url } = await holdfast.listen();
  return {
    url,
    handle: (request) => holdfast.handle(wholeRequest(request)),
    runtime: holdfast.runtime,
    store: holdfast.store,
    holdfast,
    logLines: () => lines,
    close: (drainMaxMs = 0) => holdfast.close(drainMaxMs),
  };
}

/** A request with everything in it; `?` in the path begins its query. */
export function wholeRequest(request: Partial<HttpRequest> & { readonly path: string }): HttpRequest {
  const [path = '/', query = ''] = request.path.split('?');
  return {
    method: 'GET',
    query: new URLSearchParams(query),
    headers: {},
    body: new Uint8Array(),
    signal: new AbortController().signal,
    ...request,
    path,
  };
}

function keepingLogger(lines: LogLine[], bound: LogFields = {}): Logger {
  const write = (level: string) => (msg: string, fields?: LogFields) => {
    lines.push({ ...bound, ...fields, msg, level });
  };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => keepingLogger(lines, { ...bound, ...fields }),
  };
}
