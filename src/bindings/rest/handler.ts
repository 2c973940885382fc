import { SKILLS_EXTENSION_URI } from '../../protocol/v1/names.ts';
import { a2aFrames, type FrameShape, prepareFirst } from '../a2a-frames.ts';
import { agentNotFound, agentOf, authenticate, callOf, type DoorParts, type DoorPlace } from '../door.ts';
import { routeNotFound, routeOf } from '../http/allowed-methods.ts';
import { readJson } from '../http/body.ts';
import type { HttpRequest, HttpResponse } from '../http/exchange.ts';
import { activatedExtensions, checkVersion } from '../http/headers.ts';
import { decodeSegment, type Match, type Resource } from '../http/route-table.ts';
import { streamResponse } from '../http/sse.ts';
import { jsonResponse, refuseWithStatus, statusBody } from '../http/status-body.ts';
import { LargeAnswer, largeResponse } from '../task-answers.ts';
import { type RestResult, type RestRoute, restRoutes } from './routes.ts';

const MEDIA_TYPE = 'application/a2a+json';

interface Address {
  readonly match: Match<RestRoute>;
  readonly tenant?: string;
}

/** A2A's HTTP+JSON binding (A2A 1.0 §11). `segments` is the path below the door, still encoded. */
export async function handleRest(
  parts: DoorParts,
  request: HttpRequest,
  at: DoorPlace & { readonly segments: readonly string[] },
): Promise<HttpResponse> {
  try {
    const caller = await authenticate(parts, request);
    const { match, tenant: pathTenant } = addressOf(request, at.segments);
    const route = routeOf(match.resource, request.method);
    checkVersion(request);
    const result = await route.run({
      operations: parts.operations,
      fields: { ...match.fields, ...(pathTenant === undefined ? {} : { tenant: pathTenant }) },
      query: request.query,
      body: () => readJson(request),
      callFor(tenant) {
        const agent = agentOf(parts.agents, at, tenant);
        if (agent === undefined) throw agentNotFound(parts.agents, tenant ?? '');
        return callOf(request, { caller, agent });
      },
    });
    return await respond(parts, request, result);
  } catch (error) {
    return refuseWithStatus(parts.faults.of(error), {
      contentType: MEDIA_TYPE,
      challenge: parts.authenticator.challenge,
    });
  }
}

function addressOf(request: HttpRequest, segments: readonly string[]): Address {
  const address = findAddress(segments);
  if (address === undefined) throw routeNotFound(request.path);
  return address;
}

/** The resource itself, or the one behind a tenant. No tenant is called as a resource begins, so nothing is taken for the other. */
function findAddress(segments: readonly string[]): Address | undefined {
  const match = restRoutes.match(segments);
  if (match !== undefined) return { match };
  const [first, ...below] = segments;
  const behind = first === undefined || first === '' ? undefined : restRoutes.match(below);
  return first === undefined || behind === undefined ? undefined : { match: behind, tenant: decodeSegment(first) };
}

/** What lives below the door at this path, for whoever asks which methods it takes. */
export function restResourceAt(segments: readonly string[]): Resource<RestRoute> | undefined {
  return findAddress(segments)?.match.resource;
}

async function respond(parts: DoorParts, request: HttpRequest, result: RestResult): Promise<HttpResponse> {
  const extensions = activatedExtensions(request, [SKILLS_EXTENSION_URI]);
  const headers = extensions.length === 0 ? {} : { 'a2a-extensions': extensions.join(',') };
  if (result.kind === 'value') {
    const { json } = result;
    const options = { contentType: MEDIA_TYPE, headers };
    return json instanceof LargeAnswer ? await largeResponse(parts, json, options) : jsonResponse(json, options);
  }
  const { historyLength } = result;
  await prepareFirst(parts, result.stream, historyLength);
  const frames = a2aFrames(parts, result.stream, {
    shape: restShape,
    signal: request.signal,
    ...(historyLength === undefined ? {} : { historyLength }),
  });
  return streamResponse(frames, { clock: parts.clock, headers });
}

const restShape: FrameShape = {
  before: '',
  after: '',
  error: (fault) => JSON.stringify(statusBody(fault)),
};
