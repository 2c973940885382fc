import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { ClientError, errorOfAnswer } from './client-error.ts';
import { type HttpSettings, readJson, request } from './http.ts';
import { framesOf, isEventStream, onlyFrame } from './stream-frames.ts';
import type { Frame, Operation, StreamOptions, Transport } from './transport.ts';

/** A2A over JSON-RPC 2.0 (A2A 1.0 §9). */
export function jsonRpcTransport(
  settings: HttpSettings,
  at: { readonly url: string; readonly tenant?: string },
): Transport {
  let calls = 0;
  const post = (
    operation: Operation,
    params: JsonObject,
    options: { readonly signal: AbortSignal; readonly headers: Readonly<Record<string, string>> },
  ): Promise<Response> => {
    calls += 1;
    const tenant = at.tenant === undefined ? {} : { tenant: at.tenant };
    const body = { jsonrpc: '2.0', id: calls, method: operation, params: { ...tenant, ...params } };
    return request(settings, { method: 'POST', url: at.url, body, ...options });
  };
  return {
    binding: 'JSONRPC',
    async call(operation, params, signal) {
      const response = await post(operation, params, { signal, headers: { accept: 'application/json' } });
      return resultOf(await readJson(settings, response, at.url), response);
    },
    async stream(operation, params, { signal, lastEventId }: StreamOptions): Promise<AsyncIterable<Frame>> {
      const headers = {
        accept: 'text/event-stream, application/json',
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      };
      const response = await post(operation, params, { signal, headers });
      if (isEventStream(response)) return framesOf(response, { signal, read: (json) => resultOf(json, response) });
      const json = resultOf(await readJson(settings, response, at.url), response);
      return onlyFrame({ json });
    },
  };
}

function resultOf(answer: unknown, response: Response): Json {
  const retryAfter = response.headers.get('retry-after');
  if (isJsonObject(answer) && answer.error !== undefined)
    throw errorOfAnswer(answer.error, response.status, retryAfter);
  if (!response.ok) throw errorOfAnswer(answer, response.status, retryAfter);
  if (!isJsonObject(answer) || answer.result === undefined) {
    throw new ClientError('bad-answer', 'The agent answered JSON that is no JSON-RPC response.');
  }
  return answer.result;
}
