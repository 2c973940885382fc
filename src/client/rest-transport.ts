import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { errorOfAnswer } from './client-error.ts';
import { type HttpCall, type HttpSettings, readJson, request } from './http.ts';
import { framesOf, isEventStream, onlyFrame } from './stream-frames.ts';
import type { Frame, Operation, StreamOptions, Transport } from './transport.ts';

interface Route {
  readonly method: HttpCall['method'];
  /** `{field}` is taken from the parameters; what is left of them is the body or the query. */
  readonly path: string;
}

/** The routes of A2A over HTTP+JSON (A2A 1.0 §11.3). */
const routes: Readonly<Record<Operation, Route>> = {
  SendMessage: { method: 'POST', path: '/message:send' },
  SendStreamingMessage: { method: 'POST', path: '/message:stream' },
  GetTask: { method: 'GET', path: '/tasks/{id}' },
  ListTasks: { method: 'GET', path: '/tasks' },
  CancelTask: { method: 'POST', path: '/tasks/{id}:cancel' },
  SubscribeToTask: { method: 'GET', path: '/tasks/{id}:subscribe' },
  CreateTaskPushNotificationConfig: { method: 'POST', path: '/tasks/{taskId}/pushNotificationConfigs' },
  GetTaskPushNotificationConfig: { method: 'GET', path: '/tasks/{taskId}/pushNotificationConfigs/{id}' },
  ListTaskPushNotificationConfigs: { method: 'GET', path: '/tasks/{taskId}/pushNotificationConfigs' },
  DeleteTaskPushNotificationConfig: { method: 'DELETE', path: '/tasks/{taskId}/pushNotificationConfigs/{id}' },
  GetExtendedAgentCard: { method: 'GET', path: '/extendedAgentCard' },
};

/** A2A over HTTP+JSON (A2A 1.0 §11). A tenant stands in the path, and in a body too. */
export function restTransport(
  settings: HttpSettings,
  at: { readonly url: string; readonly tenant?: string },
): Transport {
  const base = at.url.replace(/\/+$/, '') + (at.tenant === undefined ? '' : `/${encodeURIComponent(at.tenant)}`);
  const call = (operation: Operation, params: JsonObject, options: Pick<HttpCall, 'signal' | 'headers'>) => {
    const { method, path } = routes[operation];
    const rest: Record<string, Json> = { ...params };
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = rest[name];
      delete rest[name];
      return encodeURIComponent(String(value ?? ''));
    });
    const tenant = at.tenant === undefined ? {} : { tenant: at.tenant };
    const target =
      method === 'POST'
        ? { url: base + filled, body: { ...tenant, ...rest } }
        : { url: `${base}${filled}${queryOf(rest)}` };
    return request(settings, { method, ...target, ...options });
  };
  return {
    binding: 'HTTP+JSON',
    async call(operation, params, signal) {
      const response = await call(operation, params, { signal, headers: { accept: 'application/json' } });
      return bodyOf(await readJson(settings, response, response.url || base), response);
    },
    async stream(operation, params, { signal, lastEventId }: StreamOptions): Promise<AsyncIterable<Frame>> {
      const headers = {
        accept: 'text/event-stream, application/json',
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      };
      const response = await call(operation, params, { signal, headers });
      if (response.ok && isEventStream(response)) {
        return framesOf(response, { signal, read: (json) => bodyOf(json, response) });
      }
      return onlyFrame({ json: bodyOf(await readJson(settings, response, base), response) });
    },
  };
}

function queryOf(params: Readonly<Record<string, Json>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) query.set(name, String(value));
  return query.size === 0 ? '' : `?${query}`;
}

function bodyOf(answer: unknown, response: Response): Json {
  const isFault = isJsonObject(answer) && isJsonObject(answer.error);
  if (!response.ok || isFault) {
    const error = isJsonObject(answer) ? (answer.error ?? answer) : answer;
    throw errorOfAnswer(error, response.status, response.headers.get('retry-after'));
  }
  return (answer ?? {}) as Json;
}
