import type { Clock } from '../base/clock.ts';
import { CodedError, fieldError } from '../base/errors.ts';
import type { NewId } from '../base/unique-id.ts';
import { checkKey, type Seq } from '../model/ids.ts';
import type { Authenticator } from '../operations/authenticator.ts';
import type { Call, Operations } from '../operations/operations.ts';
import type { HeldTexts } from './held-texts.ts';
import type { HttpRequest } from './http/exchange.ts';
import type { Faults } from './http/fault.ts';
import { traceIdOf } from './http/headers.ts';
import type { SharedTexts } from './shared-texts.ts';
import type { ReadBlob } from './text-pieces.ts';

/** An agent as a door knows it: what a call is about. */
export type ServedAgent = Call['agent'];

/** The agents of this server, by routing name. */
export interface ServedAgents {
  readonly all: readonly ServedAgent[];
  readonly defaultAgent: ServedAgent;
  find(name: string): ServedAgent | undefined;
}

/** What every binding is made from. */
export interface DoorParts {
  readonly operations: Operations;
  readonly agents: ServedAgents;
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly faults: Faults;
  /** A reader's place in a log, as text for a client. */
  readonly cursorOf: (seq: Seq) => string;
  /** What streams of one task write once for all of them, in A2A's shape and in the native one. */
  readonly texts: { readonly a2a: SharedTexts; readonly native: SharedTexts };
  /** What readers of one large task have written once for all of them. */
  readonly held: HeldTexts;
  /** The bytes of a blob, a slice at a time. */
  readonly readBlob: ReadBlob;
  /** The absolute address that clients use, without a slash at its end. */
  readonly baseUrl: () => string;
}

/** Where a request came in: at the agent its path names (`/agents/{agent}/…`), or at the server's own doors. */
export interface DoorPlace {
  readonly agent?: ServedAgent;
}

/** Who sent the request. What the listener found wrong with it is told only to those who may know. */
export async function authenticate(parts: DoorParts, request: HttpRequest): Promise<Call['caller']> {
  const caller = await parts.authenticator.authenticate({
    header: (name) => request.headers[name],
    ...(request.remoteAddress === undefined ? {} : { remoteAddress: request.remoteAddress }),
  });
  if (request.fault !== undefined) throw request.fault;
  checkKey(caller.scope, 'scope');
  return caller;
}

export function callOf(request: HttpRequest, who: Pick<Call, 'caller' | 'agent'>): Call {
  const traceId = traceIdOf(request);
  return { ...who, signal: request.signal, ...(traceId === undefined ? {} : { traceId }) };
}

/**
 * The agent a request is for: its tenant's, the path's, or the default one. Both at once must agree. Undefined for a
 * tenant that no agent is called by: each binding says so in its own way.
 */
export function agentOf(agents: ServedAgents, place: DoorPlace, tenant: string | undefined): ServedAgent | undefined {
  if (tenant === undefined) return place.agent ?? agents.defaultAgent;
  if (place.agent === undefined) return agents.find(tenant);
  if (place.agent.name === tenant) return place.agent;
  throw fieldError('tenant', `must be "${place.agent.name}" or absent at this address`);
}

export function agentNotFound(agents: ServedAgents, name: string): CodedError {
  const names = agents.all.map((agent) => agent.name).join(', ');
  return new CodedError('agent_not_found', {
    message: `This server has no agent "${name.slice(0, 64)}". It has ${names}.`,
    metadata: { agent: name.slice(0, 64) },
  });
}
