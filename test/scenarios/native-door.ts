import { type DoorOptions, framesOf, headersOf, type Wire } from './door.ts';

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
