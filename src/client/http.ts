import type { Clock } from '../base/clock.ts';
import type { Json } from '../base/json.ts';
import { ClientError } from './client-error.ts';

/** Facts of one exchange for whoever debugs a client. They hold no headers: those carry credentials. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly request?: string;
  readonly status?: number;
  readonly response?: string;
  readonly error?: string;
  readonly tookMs: number;
}

/** How a client reaches its agent. */
export interface HttpSettings {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** On every request: version, credentials, service parameters. */
  readonly headers: Readonly<Record<string, string>>;
  /** An API key that its scheme wants in the query. */
  readonly query: Readonly<Record<string, string>>;
  readonly onExchange?: (exchange: Exchange) => void;
}

export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** One request. Resolves whatever the status; `unreachable` when there was no answer at all. */
export async function request(settings: HttpSettings, call: HttpCall): Promise<Response> {
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  const startedMs = settings.clock.monotonicMs();
  const facts = { method: call.method, url: call.url, ...(body === undefined ? {} : { request: body }) };
  const took = () => settings.clock.monotonicMs() - startedMs;
  try {
    const response = await settings.fetch(withQuery(call.url, settings.query), {
      method: call.method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...settings.headers,
        ...call.headers,
      },
      redirect: 'follow',
      signal: call.signal,
      ...(body === undefined ? {} : { body }),
    });
    settings.onExchange?.({ ...facts, status: response.status, tookMs: took() });
    return response;
  } catch (error) {
    if (call.signal.aborted) throw call.signal.reason;
    settings.onExchange?.({ ...facts, error: reasonOf(error), tookMs: took() });
    throw new ClientError('unreachable', `${new URL(call.url).origin} could not be reached: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

function withQuery(url: string, query: Readonly<Record<string, string>>): string {
  const entries = Object.entries(query);
  if (entries.length === 0) return url;
  const full = new URL(url);
  for (const [name, value] of entries) full.searchParams.set(name, value);
  return full.href;
}

/** Node hides the reason of a failed fetch in its cause. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const inner = cause instanceof AggregateError ? cause.errors[0] : cause;
  const deepest = inner instanceof Error && inner.message !== '' ? inner : error;
  return deepest instanceof Error ? deepest.message : String(deepest);
}

/** The body as JSON; `bad-answer` when it is none, `lost` when it broke off. */
export async function readJson(settings: HttpSettings, response: Response, url: string): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw new ClientError('lost', `The answer of ${new URL(url).origin} broke off: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  settings.onExchange?.({ method: 'ANSWER', url, status: response.status, response: text, tookMs: 0 });
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ClientError(response.status === 404 ? 'unreachable' : 'bad-answer', notJson(response, url), {
      wireCode: response.status,
      cause: error,
    });
  }
}

function notJson(response: Response, url: string): string {
  const type = response.headers.get('content-type') ?? 'no content type';
  return `${url} answered HTTP ${response.status} with ${type}, which is not JSON. Is it an A2A agent?`;
}
