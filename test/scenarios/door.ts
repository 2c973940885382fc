import { randomUUID } from 'node:crypto';

/** JSON as a client sees it. */
// biome-ignore lint/suspicious/noExplicitAny: a client's view of JSON, judged by the expectations
export type Wire = any;

/** What an operation answered, whichever binding it went through. */
export type Answer =
  | { readonly ok: true; readonly value: Wire }
  | {
      readonly ok: false;
      readonly reason: string;
      readonly status: number;
      readonly message: string;
      readonly body: Wire;
    };

/** A stream that began; frames are unwrapped to what A2A calls a StreamResponse. */
interface OpenStream {
  readonly frames: AsyncIterable<{ readonly id?: string; readonly value: Wire }>;
  close(): void;
}

export type StreamAnswer = { readonly ok: true; readonly stream: OpenStream } | Extract<Answer, { ok: false }>;

export interface MessageOptions {
  readonly text?: string;
  readonly messageId?: string;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly skill?: string;
  readonly parts?: readonly Wire[];
  readonly metadata?: Wire;
  readonly configuration?: Wire;
  readonly [field: string]: unknown;
}

/** One binding, as a client uses it: so that a scenario is written once and run over each. */
export interface Door {
  readonly name: 'jsonrpc' | 'rest';
  send(message: MessageOptions): Promise<Answer>;
  stream(message: MessageOptions): Promise<StreamAnswer>;
  get(id: string, options?: { readonly historyLength?: number }): Promise<Answer>;
  list(query?: Readonly<Record<string, string | number | boolean>>): Promise<Answer>;
  cancel(id: string): Promise<Answer>;
  subscribe(id: string): Promise<StreamAnswer>;
  push(id: string): Promise<Answer>;
  extendedCard(): Promise<Answer>;
}

export interface DoorOptions {
  readonly url: string;
  /** Bearer token; the test authenticator takes it as the principal. */
  readonly token?: string;
}

export function messageOf(options: MessageOptions): Wire {
  const { text, messageId, taskId, contextId, skill, parts, metadata, configuration: _, ...other } = options;
  return {
    messageId: messageId ?? randomUUID(),
    role: 'ROLE_USER',
    parts: parts ?? [{ text: text ?? 'hello' }],
    ...(taskId === undefined ? {} : { taskId }),
    ...(contextId === undefined ? {} : { contextId }),
    ...(skill === undefined && metadata === undefined
      ? {}
      : { metadata: { ...metadata, ...(skill === undefined ? {} : { skillId: skill }) } }),
    ...other,
  };
}

function requestOf(options: MessageOptions): Wire {
  return {
    message: messageOf(options),
    ...(options.configuration === undefined ? {} : { configuration: options.configuration }),
  };
}

export function headersOf(options: DoorOptions): Record<string, string> {
  return { 'a2a-version': '1.0', ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }) };
}

export function jsonRpcDoor(options: DoorOptions): Door {
  const post = (method: string, params: Wire, signal?: AbortSignal) =>
    fetch(`${options.url}/a2a/jsonrpc`, {
      method: 'POST',
      headers: { ...headersOf(options), 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      ...(signal === undefined ? {} : { signal }),
    });
  const call = async (method: string, params: Wire): Promise<Answer> => {
    const response = await post(method, params);
    return jsonRpcAnswer(response.status, await response.json());
  };
  const open = (method: string, params: Wire): Promise<StreamAnswer> =>
    openStream(
      (signal) => post(method, params, signal),
      jsonRpcAnswer,
      (frame) => frame.result ?? frame,
    );
  return {
    name: 'jsonrpc',
    send: (message) => call('SendMessage', requestOf(message)),
    stream: (message) => open('SendStreamingMessage', requestOf(message)),
    get: (id, want) => call('GetTask', { id, ...want }),
    list: (query) => call('ListTasks', query ?? {}),
    cancel: (id) => call('CancelTask', { id }),
    subscribe: (id) => open('SubscribeToTask', { id }),
    push: (id) => call('ListTaskPushNotificationConfigs', { taskId: id }),
    extendedCard: () => call('GetExtendedAgentCard', {}),
  };
}

export function restDoor(options: DoorOptions): Door {
  const at = (path: string, init: RequestInit = {}) =>
    fetch(`${options.url}/a2a/v1${path}`, {
      ...init,
      headers: { ...headersOf(options), 'content-type': 'application/json' },
    });
  const call = async (path: string, body?: Wire): Promise<Answer> => {
    const response = await at(path, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) });
    return restAnswer(response.status, await response.json());
  };
  const query = (values: Readonly<Record<string, string | number | boolean>> = {}) => {
    const text = new URLSearchParams(
      Object.entries(values).map(([name, value]): [string, string] => [name, String(value)]),
    ).toString();
    return text === '' ? '' : `?${text}`;
  };
  const open = (path: string, body?: Wire): Promise<StreamAnswer> =>
    openStream(
      (signal) => at(path, { method: 'POST', signal, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }),
      restAnswer,
      (frame) => frame,
    );
  return {
    name: 'rest',
    send: (message) => call('/message:send', requestOf(message)),
    stream: (message) => open('/message:stream', requestOf(message)),
    get: (id, want) => call(`/tasks/${encodeURIComponent(id)}${query(want)}`),
    list: (values) => call(`/tasks${query(values)}`),
    cancel: (id) => call(`/tasks/${encodeURIComponent(id)}:cancel`, {}),
    subscribe: (id) => open(`/tasks/${encodeURIComponent(id)}:subscribe`),
    push: (id) => call(`/tasks/${encodeURIComponent(id)}/pushNotificationConfigs`),
    extendedCard: () => call('/extendedAgentCard'),
  };
}

export const doorMakers = [jsonRpcDoor, restDoor] as const;

function jsonRpcAnswer(status: number, body: Wire): Answer {
  if (body.error === undefined) return { ok: true, value: body.result };
  return { ok: false, status, reason: reasonOf(body.error.data, body.error.code), message: body.error.message, body };
}

export function restAnswer(status: number, body: Wire): Answer {
  if (body.error === undefined) return { ok: true, value: body };
  return {
    ok: false,
    status,
    reason: reasonOf(body.error.details, body.error.status),
    message: body.error.message,
    body,
  };
}

function reasonOf(details: Wire, fallback: unknown): string {
  const info = Array.isArray(details)
    ? details.find((detail) => String(detail['@type']).endsWith('ErrorInfo'))
    : undefined;
  return String(info?.reason ?? fallback);
}

export async function openStream(
  send: (signal: AbortSignal) => Promise<Response>,
  answerOf: (status: number, body: Wire) => Answer,
  unwrap: (frame: Wire) => Wire,
): Promise<StreamAnswer> {
  const abort = new AbortController();
  const response = await send(abort.signal);
  if (!String(response.headers.get('content-type')).startsWith('text/event-stream')) {
    const answer = answerOf(response.status, await response.json());
    if (answer.ok) throw new Error(`a stream answered with a plain success: ${JSON.stringify(answer.value)}`);
    return answer;
  }
  return { ok: true, stream: { frames: framesOf(response, unwrap), close: () => abort.abort() } };
}

/** The frames of an SSE body that have data, comments left out. */
export async function* framesOf(
  response: Response,
  unwrap: (frame: Wire) => Wire,
): AsyncIterable<{ readonly id?: string; readonly event?: string; readonly value: Wire }> {
  let rest = '';
  if (response.body === null) return;
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    rest += chunk;
    const frames = rest.split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const field = (name: string) =>
        frame
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      const data = field('data');
      if (data === undefined) continue;
      const id = field('id');
      const event = field('event');
      yield {
        ...(id === undefined ? {} : { id }),
        ...(event === undefined ? {} : { event }),
        value: unwrap(JSON.parse(data)),
      };
    }
  }
}

/** All frames of a stream that ends by itself. */
export async function readAll(answer: StreamAnswer): Promise<readonly Wire[]> {
  if (!answer.ok) throw new Error(`no stream: ${answer.message}`);
  const all: Wire[] = [];
  for await (const frame of answer.stream.frames) all.push(frame.value);
  return all;
}

/** The value of an answer that must be a success. */
export function okOf(answer: Answer): Wire {
  if (!answer.ok) throw new Error(`refused: ${answer.reason} ${answer.message}`);
  return answer.value;
}

/** The refusal of an answer that must not be a success. */
export function refusalOf(answer: Answer | StreamAnswer): Extract<Answer, { ok: false }> {
  if (answer.ok) throw new Error('not refused');
  return answer;
}
