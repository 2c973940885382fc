import {
  type Answer,
  type Door,
  type DoorOptions,
  framesOf,
  headersOf,
  type MessageOptions,
  messageOf,
  okOf,
  openStream,
  restAnswer,
  type StreamAnswer,
  type Wire,
} from './door.ts';

/** The native API as a client uses it. */
export interface NativeDoor {
  get(path: string): Promise<{ readonly status: number; readonly body: Wire }>;
  post(path: string, body?: Wire): Promise<{ readonly status: number; readonly body: Wire }>;
  /** Events over SSE, from a cursor if one is given, until the stream ends. */
  follow(taskId: string, lastEventId?: string): Promise<readonly NativeFrame[]>;
  open(taskId: string, lastEventId?: string): Promise<{ readonly frames: AsyncIterator<NativeFrame>; close(): void }>;
}

export interface NativeFrame {
  readonly id?: string;
  readonly event?: string;
  readonly value: Wire;
}

export function nativeDoor(options: DoorOptions): NativeDoor {
  const headers = headersOf(options);
  const ask = async (path: string, init: RequestInit) => {
    const response = await fetch(options.url + path, {
      ...init,
      headers: { ...headers, accept: 'application/json', 'content-type': 'application/json' },
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  };
  const events = async (taskId: string, lastEventId: string | undefined, signal?: AbortSignal) =>
    fetch(`${options.url}/v1/tasks/${taskId}/events`, {
      headers: {
        ...headers,
        accept: 'text/event-stream',
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      },
      ...(signal === undefined ? {} : { signal }),
    });
  return {
    get: (path) => ask(path, {}),
    post: (path, body) => ask(path, { method: 'POST', body: JSON.stringify(body ?? {}) }),
    async follow(taskId, lastEventId) {
      const frames: NativeFrame[] = [];
      for await (const frame of framesOf(await events(taskId, lastEventId), (value) => value)) frames.push(frame);
      return frames;
    },
    async open(taskId, lastEventId) {
      const abort = new AbortController();
      const response = await events(taskId, lastEventId, abort.signal);
      return { frames: framesOf(response, (value) => value)[Symbol.asyncIterator](), close: () => abort.abort() };
    },
  };
}

/** The operations on tasks that every binding has. */
export type TaskDoor = Pick<Door, 'send' | 'stream' | 'get' | 'list' | 'cancel'>;

/** The native API as one more binding of them, and what only it has. */
export interface NativeTaskDoor extends TaskDoor {
  readonly name: 'native' | 'native session';
  events(id: string): Promise<StreamAnswer>;
  resume(id: string): Promise<Answer>;
}

/** Messages go to `/v1/tasks`. */
export function nativeTaskDoor(options: DoorOptions): NativeTaskDoor {
  return taskDoor(options, 'native', async () => '/v1/tasks');
}

/** Messages go to the session they belong to: that of their task, else a new one. */
export function nativeSessionDoor(options: DoorOptions): NativeTaskDoor {
  const tasks = nativeTaskDoor(options);
  return taskDoor(options, 'native session', async ({ taskId }) => {
    const task = taskId === undefined ? undefined : await tasks.get(taskId);
    const session = task?.ok ? task.value : okOf(await post(options, '/v1/sessions', {}));
    return `/v1/sessions/${session.sessionId}/messages`;
  });
}

function taskDoor(
  options: DoorOptions,
  name: NativeTaskDoor['name'],
  pathOf: (message: MessageOptions) => Promise<string>,
): NativeTaskDoor {
  const at = (id: string, verb = '') => `/v1/tasks/${encodeURIComponent(id)}${verb}`;
  return {
    name,
    send: async (message) => post(options, await pathOf(message), bodyOf(message)),
    stream: async (message) => {
      const path = await pathOf(message);
      return followed((signal) => request(options, path, { accept: SSE, body: bodyOf(message), signal }));
    },
    get: (id) => answered(request(options, at(id))),
    list: (query = {}) => {
      const values = Object.entries(query).map(([field, value]): [string, string] => [field, String(value)]);
      return answered(request(options, `/v1/tasks?${new URLSearchParams(values)}`));
    },
    cancel: (id) => post(options, at(id, '/cancel'), {}),
    events: (id) => followed((signal) => request(options, at(id, '/events'), { accept: SSE, signal })),
    resume: (id) => post(options, at(id, '/resume'), {}),
  };
}

const SSE = 'text/event-stream';

function bodyOf({ configuration, ...message }: MessageOptions): Wire {
  return { message: messageOf(message), ...configuration };
}

function request(
  options: DoorOptions,
  path: string,
  { accept = 'application/json', body, signal }: { accept?: string; body?: Wire; signal?: AbortSignal } = {},
): Promise<Response> {
  return fetch(options.url + path, {
    headers: { ...headersOf(options), accept, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
}

async function answered(asked: Promise<Response>): Promise<Answer> {
  const response = await asked;
  return restAnswer(response.status, await response.json());
}

function post(options: DoorOptions, path: string, body: Wire): Promise<Answer> {
  return answered(request(options, path, { body }));
}

function followed(send: (signal: AbortSignal) => Promise<Response>): Promise<StreamAnswer> {
  return openStream(send, restAnswer, (frame) => frame);
}
