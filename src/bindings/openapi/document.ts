import { z } from 'zod';
import type { Json, JsonObject } from '../../base/json.ts';
import type { ServedAgents } from '../door.ts';
import type { Resource } from '../http/route-table.ts';
import type { NativeRoute } from '../native/route.ts';
import { nativeRoutes } from '../native/routes.ts';
import { type RestRoute, restRoutes } from '../rest/routes.ts';
import { skillSchema } from '../skill-schema.ts';
import { ref, schemas } from './a2a-schemas.ts';
import { nativeAnswers, restAnswers, restBodies, restParameters } from './operation-schemas.ts';

/** OpenAPI 3.1 of HTTP+JSON and the native API, made from the very tables that route them. */
export function openApiDocument(facts: {
  readonly url: string;
  readonly version: string;
  readonly agents: ServedAgents;
}): JsonObject {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Holdfast',
      version: facts.version,
      description: 'Agents over A2A 1.0 (HTTP+JSON) and the native API. JSON-RPC stands at POST /a2a/jsonrpc.',
    },
    servers: [{ url: facts.url }],
    paths: {
      ...pathsOf('/a2a/v1', restRoutes.resources, restOperation),
      ...pathsOf('/v1', nativeRoutes.resources, nativeOperation),
    },
    components: { schemas: { ...schemas, ...skillSchemas(facts.agents) } },
  };
}

function pathsOf<Route>(
  prefix: string,
  resources: readonly Resource<Route>[],
  operation: (route: Route, at: { readonly method: string; readonly path: string }) => JsonObject,
): JsonObject {
  const paths: Record<string, Json> = {};
  for (const { path, methods } of resources) {
    const operations = Object.entries(methods).map(([method, route]): [string, Json] => {
      return [method.toLowerCase(), operation(route as Route, { method, path })];
    });
    paths[prefix + path] = Object.fromEntries(operations);
  }
  return paths;
}

function restOperation(route: RestRoute, at: { readonly method: string; readonly path: string }): JsonObject {
  const body = at.method === 'POST' ? restBodies[route.name] : undefined;
  const answer = restAnswers[route.name] ?? 'Error';
  const isStream = answer === 'StreamResponse';
  return {
    operationId: at.method === 'POST' && route.name === 'SubscribeToTask' ? 'SubscribeToTaskByPost' : route.name,
    tags: ['A2A'],
    summary: route.summary,
    parameters: [
      versionParameter,
      ...pathParameters(at.path),
      ...(restParameters[route.name] ?? []).map(queryParameter),
    ],
    ...(body === undefined
      ? {}
      : { requestBody: jsonContent(ref(body), ['application/a2a+json', 'application/json']) }),
    responses: responses(jsonContent(ref(answer), [isStream ? 'text/event-stream' : 'application/a2a+json'])),
  };
}

function nativeOperation(route: NativeRoute, at: { readonly path: string }): JsonObject {
  const types = route.streams === true ? ['application/json', 'text/event-stream'] : ['application/json'];
  const { body } = route;
  return {
    operationId: `native.${route.name}`,
    tags: ['native'],
    summary: route.summary,
    parameters: [agentParameter, ...pathParameters(at.path), ...(route.query ?? []).map(queryParameter)],
    ...(body === undefined ? {} : { requestBody: jsonContent(bodySchema(body), ['application/json']) }),
    responses: responses(jsonContent(nativeAnswers[route.name] ?? { type: 'object' }, types)),
  };
}

function bodySchema(body: z.ZodType): JsonObject {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(body, { io: 'input' }) as { [key: string]: Json };
  return schema;
}

const versionParameter: JsonObject = {
  name: 'A2A-Version',
  in: 'header',
  required: true,
  schema: { type: 'string', const: '1.0' },
};
const agentParameter: JsonObject = {
  name: 'agent',
  in: 'query',
  description: 'Which agent; the default one when absent.',
  schema: { type: 'string' },
};

function pathParameters(path: string): readonly JsonObject[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name: name ?? '',
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameter(parameter: {
  readonly name: string;
  readonly type: string;
  readonly description: string;
}): JsonObject {
  const { name, type, description } = parameter;
  return { name, in: 'query', description, schema: { type } };
}

function jsonContent(schema: Json, types: readonly string[]): JsonObject {
  return { content: Object.fromEntries(types.map((type): [string, Json] => [type, { schema }])) };
}

function responses(success: JsonObject): JsonObject {
  const refused = jsonContent(ref('Error'), ['application/json']);
  return {
    200: { description: 'Done.', ...success },
    default: { description: 'Refused; docs/errors has a page for each reason.', ...refused },
  };
}

/** What each skill takes and returns, named `agent.skill.input` and `agent.skill.output`. */
function skillSchemas(agents: ServedAgents): JsonObject {
  const named: Record<string, Json> = {};
  for (const agent of agents.all) {
    for (const [skillId, skill] of Object.entries(agent.skills)) {
      for (const side of ['input', 'output'] as const) {
        const schema = skillSchema(skill, side);
        // An id of its own, so that references inside an author's schema stay inside it.
        if (schema !== undefined) {
          named[`${agent.name}.${skillId}.${side}`] = {
            $id: `urn:holdfast:${agent.name}:${skillId}:${side}`,
            ...schema,
          };
        }
      }
    }
  }
  return named;
}
