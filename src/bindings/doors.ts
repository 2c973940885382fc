import type { Instant } from '../base/clock.ts';
import { agentCard } from './agent-card.ts';
import { agentNotFound, authenticate, type DoorParts, type DoorPlace, type ServedAgent } from './door.ts';
import { allowOf, routeNotFound, routeOf } from './http/allowed-methods.ts';
import { cachedJson } from './http/cached-json.ts';
import type { HttpBinding, HttpRequest, HttpResponse } from './http/exchange.ts';
import { decodeSegment, type Resource, segmentsOf } from './http/route-table.ts';
import { jsonResponse, refuseWithStatus } from './http/status-body.ts';
import { handleJsonRpc } from './jsonrpc/handler.ts';
import { handleNative } from './native/handler.ts';
import { nativeRoutes } from './native/routes.ts';
import { openApiDocument } from './openapi/document.ts';
import { handleRest, restResourceAt } from './rest/handler.ts';
import { withFiles } from './task-answers.ts';

/** What the doors for operators look at. */
interface ServerState {
  /** Undefined while everything is well, else what is not. */
  readonly notReady: () => Promise<string | undefined>;
  /** Metrics in the text format of Prometheus. */
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  readonly startedAt: Instant;
  readonly version: string;
}

export interface Doors extends DoorParts {
  readonly state: ServerState;
}

type PlainRoute = (doors: Doors, request: HttpRequest, place: DoorPlace) => Promise<HttpResponse> | HttpResponse;

const cardRoute: PlainRoute = (doors, request, place) => {
  const agent = place.agent ?? doors.agents.defaultAgent;
  const url = place.agent === undefined ? doors.baseUrl() : agentUrl(doors, place.agent);
  const text = JSON.stringify(agentCard(agent, { url, authenticator: doors.authenticator }));
  return cachedJson(request, { text, modifiedAt: doors.state.startedAt });
};

const openApiRoute: PlainRoute = (doors, request) => {
  const document = openApiDocument({ url: doors.baseUrl(), version: doors.state.version, agents: doors.agents });
  return cachedJson(request, { text: JSON.stringify(document), modifiedAt: doors.state.startedAt });
};

const healthRoute: PlainRoute = () => plainJson({ status: 'ok' }, 200);

const readyRoute: PlainRoute = async (doors) => {
  const reason = await doors.state.notReady();
  return reason === undefined ? plainJson({ status: 'ready' }, 200) : plainJson({ status: 'not ready', reason }, 503);
};

/** Counts of everybody's tasks: for those who may call at all. */
const metricsRoute: PlainRoute = async (doors, request) => {
  await authenticate(doors, request);
  const { contentType, text } = await doors.state.metrics();
  return { status: 200, headers: { 'content-type': contentType, 'cache-control': 'no-store' }, body: text };
};

const cardResource = plain('/.well-known/agent-card.json', cardRoute);
const serverResources = [
  cardResource,
  plain('/healthz', healthRoute),
  plain('/readyz', readyRoute),
  plain('/metrics', metricsRoute),
  plain('/openapi.json', openApiRoute),
];
const jsonRpcResource: Resource<true> = { path: '/a2a/jsonrpc', methods: { POST: true } };

function plain(path: string, route: PlainRoute): Resource<PlainRoute> {
  return { path, methods: { GET: route } };
}

/** Every door of the server as one function: which binding a path belongs to, and for which agent. */
export function createDoors(doors: Doors): HttpBinding {
  return async (request) => {
    const segments = segmentsOf(request.path);
    try {
      const [first, name, ...below] = segments;
      if (first !== 'agents' || name === undefined) return withFiles(doors, await enter(doors, request, { segments }));
      const agent = namedAgent(doors, name);
      return withFiles(doors, await enter(doors, request, { segments: below, agent }));
    } catch (error) {
      return refuseWithStatus(doors.faults.of(error), {
        contentType: 'application/json',
        challenge: doors.authenticator.challenge,
      });
    }
  };
}

type Place = DoorPlace & { readonly segments: readonly string[] };

async function enter(doors: Doors, request: HttpRequest, place: Place): Promise<HttpResponse> {
  if (request.method === 'OPTIONS') return options(request, place);
  const [first, second, ...below] = place.segments;
  if (first === 'a2a' && second === 'jsonrpc' && below.length === 0) return handleJsonRpc(doors, request, place);
  if (first === 'a2a' && second === 'v1') return handleRest(doors, request, { ...place, segments: below });
  if (first === 'v1') return handleNative(doors, request, { ...place, segments: place.segments.slice(1) });
  const resource = plainResource(place);
  if (resource === undefined) throw routeNotFound(request.path);
  return await routeOf(resource, request.method)(doors, request, place);
}

/** Under an agent stands its card; the rest is the server's. */
function plainResource({ segments, agent }: Place): Resource<PlainRoute> | undefined {
  const path = `/${segments.join('/')}`;
  return (agent === undefined ? serverResources : [cardResource]).find((resource) => resource.path === path);
}

/** What a path takes; it needs no credentials, since a browser sends none when it asks. */
function options(request: HttpRequest, place: Place): HttpResponse {
  const resource = resourceAt(place);
  if (resource === undefined) throw routeNotFound(request.path);
  return { status: 204, headers: { allow: allowOf(resource) }, body: '' };
}

function resourceAt(place: Place): Resource<unknown> | undefined {
  const [first, second, ...below] = place.segments;
  if (first === 'a2a' && second === 'jsonrpc' && below.length === 0) return jsonRpcResource;
  if (first === 'a2a' && second === 'v1') return restResourceAt(below);
  if (first === 'v1') return nativeRoutes.match(place.segments.slice(1))?.resource;
  return plainResource(place);
}

function namedAgent(doors: Doors, segment: string): ServedAgent {
  const name = decodeSegment(segment);
  const agent = doors.agents.find(name);
  if (agent === undefined) throw agentNotFound(doors.agents, name);
  return agent;
}

function agentUrl(parts: Pick<DoorParts, 'baseUrl'>, agent: ServedAgent): string {
  return `${parts.baseUrl()}/agents/${agent.name}`;
}

function plainJson(json: { readonly [key: string]: string }, status: number): HttpResponse {
  return jsonResponse(json, { status, contentType: 'application/json', headers: { 'cache-control': 'no-store' } });
}
