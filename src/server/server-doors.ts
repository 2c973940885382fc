import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { NewId } from '../base/unique-id.ts';
import type { DoorParts } from '../bindings/door.ts';
import { createDoors } from '../bindings/doors.ts';
import { HeldTexts } from '../bindings/held-texts.ts';
import { withCors } from '../bindings/http/cors.ts';
import type { HttpBinding } from '../bindings/http/exchange.ts';
import { Faults } from '../bindings/http/fault.ts';
import { SharedTexts } from '../bindings/shared-texts.ts';
import { formatCursor } from '../model/cursor.ts';
import type { AgentName } from '../model/ids.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Authenticator } from '../operations/authenticator.ts';
import { createOperations } from '../operations/create-operations.ts';
import type { Permits } from '../operations/verb.ts';
import type { AgentDirectory, Runtime, Secrets } from '../runtime/ports.ts';
import type { SystemStore } from '../store/contract.ts';
import type { Config } from './config.ts';
import { packageVersion } from './version.ts';

/** What a server is put together from. */
export interface ServerParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly newId: NewId;
  readonly secrets: Secrets;
  readonly agents: AgentDirectory;
  readonly authenticator: Authenticator;
  readonly permits: Permits;
  readonly store: SystemStore;
  readonly runtime: Runtime;
  readonly metrics: Metrics;
}

/** The operations behind every door, as one function of values. `baseUrl` is asked for each card, since a port may be known late. */
export function createServerDoors(parts: ServerParts, baseUrl: () => string): HttpBinding {
  const { agents, authenticator, clock, config, log, newId, metrics, permits, runtime, secrets, store } = parts;
  const operations = createOperations({
    runtime,
    store: (agent, scope) => store.scoped(agent, scope),
    secrets,
    clock,
    newId,
    permits,
    meter: metrics.operations,
    streamEndsAtInputRequired: config.a2a.streamEndsAtInputRequired,
  });
  const door: DoorParts = {
    operations,
    agents: { ...agents, find: (name) => agents.find(name as AgentName) },
    authenticator,
    clock,
    newId,
    faults: new Faults({ log, newId }),
    texts: { a2a: new SharedTexts(), native: new SharedTexts() },
    held: new HeldTexts({ clock, readBlob: runtime.readBlob }),
    readBlob: runtime.readBlob,
    cursorOf: (seq) => formatCursor({ incarnation: runtime.incarnation, seq }),
    baseUrl,
  };
  const state = {
    notReady: () => notReady(parts),
    metrics: metrics.scrape,
    startedAt: clock.now(),
    version: packageVersion,
  };
  return withCors(createDoors({ ...door, state }), config.cors);
}

/** A server that drains, or whose store gives no answer, takes no new work. */
async function notReady({ runtime, store, log }: ServerParts): Promise<string | undefined> {
  if (runtime.draining) return 'the server is stopping';
  try {
    await store.now();
    return undefined;
  } catch (error) {
    log.warn('store not reachable', { error });
    return 'the store gives no answer';
  }
}
