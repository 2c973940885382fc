import { fieldError } from '../../base/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { decodeGetTaskRequest, decodeListTasksRequest, type GetTaskRequest, type ListTasksRequest } from './decode.ts';
import { Problems } from './problems.ts';
import { snakeOf } from './read.ts';

/** What the text of a query parameter stands for (A2A 1.0 §11.5); numbers are read from text everywhere. */
type QueryField = 'text' | 'bool' | 'enum';

const listTasksFields: Readonly<Record<string, QueryField>> = {
  tenant: 'text',
  contextId: 'text',
  status: 'enum',
  pageSize: 'text',
  pageToken: 'text',
  historyLength: 'text',
  statusTimestampAfter: 'text',
  includeArtifacts: 'bool',
};
const getTaskFields: Readonly<Record<string, QueryField>> = { tenant: 'text', historyLength: 'text' };
const listPushConfigsFields: Readonly<Record<string, QueryField>> = {
  tenant: 'text',
  pageSize: 'text',
  pageToken: 'text',
};

/** `GET /tasks?…`. `path` holds what the path said (the tenant). */
export function decodeListTasksQuery(query: URLSearchParams, path: PathFields = {}): ListTasksRequest {
  return decodeListTasksRequest(withPathFields(queryFields(query, listTasksFields), path));
}

/** `GET /tasks/{id}?…`. */
export function decodeGetTaskQuery(query: URLSearchParams, path: PathFields): GetTaskRequest {
  return decodeGetTaskRequest(withPathFields(queryFields(query, getTaskFields), path));
}

/** `GET /tasks/{taskId}/pushNotificationConfigs?…`, as JSON for `decodeListPushConfigsRequest`. */
export function listPushConfigsQuery(query: URLSearchParams, path: PathFields): JsonObject {
  return withPathFields(queryFields(query, listPushConfigsFields), path) as JsonObject;
}

/** Fields that stood in the path of a URL, by their camelCase names. */
export type PathFields = Readonly<Record<string, string>>;

/**
 * The request of a REST route: what stood in the path together with the body or the query. A field that both name must be
 * equal, since nobody could tell which was meant. Anything but an object is given back for the decoder to refuse.
 */
export function withPathFields(json: unknown, path: PathFields): unknown {
  if (json !== undefined && !isJsonObject(json)) return json;
  const request: Record<string, Json> = { ...json };
  for (const [name, value] of Object.entries(path)) {
    for (const spelling of new Set([name, snakeOf(name)])) {
      const other = request[spelling];
      if (other != null && other !== '' && other !== value)
        throw fieldError(name, 'must be the same in the path and in the request');
      delete request[spelling];
    }
    request[name] = value;
  }
  return request;
}

/** The known parameters as JSON. Others are not looked at; one that is given twice is refused. */
function queryFields(query: URLSearchParams, fields: Readonly<Record<string, QueryField>>): JsonObject {
  const problems = new Problems();
  const request: Record<string, Json> = {};
  for (const [name, field] of Object.entries(fields)) {
    const given = [...new Set([name, snakeOf(name)])].flatMap((spelling) => query.getAll(spelling));
    if (given.length > 1) problems.add(name, `is given ${given.length} times`);
    if (given[0] !== undefined) request[name] = queryValue(given[0], field);
  }
  problems.throwIfAny();
  return request;
}

/** A text that stands for nothing stays a text, which the decoder then refuses under its name. */
function queryValue(text: string, field: QueryField): Json {
  if (field === 'bool' && (text === 'true' || text === 'false')) return text === 'true';
  if (field === 'enum' && /^[0-9]{1,9}$/.test(text)) return Number(text);
  return text;
}
