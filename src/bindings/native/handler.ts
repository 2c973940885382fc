import { fieldError } from '../../base/errors.ts';
import { agentNotFound, authenticate, callOf, type DoorParts, type DoorPlace, type ServedAgent } from '../door.ts';
import { routeNotFound, routeOf } from '../http/allowed-methods.ts';
import type { HttpRequest, HttpResponse } from '../http/exchange.ts';
import { refuseWithStatus } from '../http/status-body.ts';
import { JSON_TYPE } from './answers.ts';
import { nativeRoutes } from './routes.ts';

/** The native API: sessions, tasks and their logs. `segments` is the path below `/v1`, still encoded. */
export async function handleNative(
  parts: DoorParts,
  request: HttpRequest,
  at: DoorPlace & { readonly segments: readonly string[] },
): Promise<HttpResponse> {
  try {
    const caller = await authenticate(parts, request);
    const match = nativeRoutes.match(at.segments);
    if (match === undefined) throw routeNotFound(request.path);
    const route = routeOf(match.resource, request.method);
    const call = callOf(request, { caller, agent: agentAt(parts, request, at) });
    return await route.run({ parts, request, call, place: at, fields: match.fields });
  } catch (error) {
    return refuseWithStatus(parts.faults.of(error), {
      contentType: JSON_TYPE,
      challenge: parts.authenticator.challenge,
    });
  }
}

/** `?agent=` names one; so does the path `/agents/{agent}/v1`; neither means the default one. */
function agentAt(parts: DoorParts, request: HttpRequest, place: DoorPlace): ServedAgent {
  const name = request.query.get('agent');
  if (name === null || name === '') return place.agent ?? parts.agents.defaultAgent;
  if (place.agent !== undefined && place.agent.name !== name) {
    throw fieldError('agent', `must be "${place.agent.name}" or absent at this address`);
  }
  const agent = parts.agents.find(name);
  if (agent === undefined) throw agentNotFound(parts.agents, name);
  return agent;
}
