import type { HttpResponse } from '../bindings/http/exchange.ts';
import { isStream } from '../bindings/http/exchange.ts';
import type { ServerWorld } from './server-world.ts';

/** JSON as a client sees it. */
// biome-ignore lint/suspicious/noExplicitAny: a client's view of JSON, judged by the expectations
export type Wire = any;

export interface CallOptions {
  readonly method?: string;
  /** JSON, or the very bytes. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined where the body is no JSON. */
  readonly json: Wire;
  readonly text: string;
}

type Doors = Pick<ServerWorld, 'handle'>;

/** Calls a path of the doors; headers say A2A 1.0 and JSON unless they are given. */
export async function call(doors: Doors, path: string, options: CallOptions = {}): Promise<Answer> {
  return readAnswer(await open(doors, path, options));
}

/** The same without reading the body: for streams that do not end by themselves. */
export function open(doors: Doors, path: string, options: CallOptions = {}): Promise<HttpResponse> {
  const { body, headers, signal } = options;
  return doors.handle({
    path,
    method: options.method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      'a2a-version': '1.0',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: bytesOf(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** A JSON-RPC call; its body is the text itself where a text is given. */
export function rpc(doors: Doors, request: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return call(doors, '/a2a/jsonrpc', { body: request, headers });
}

function bytesOf(body: unknown): Uint8Array {
  if (body === undefined) return new Uint8Array();
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

async function readAnswer({ status, headers, body }: HttpResponse): Promise<Answer> {
  const text = isStream(body) ? await wholeText(body) : Buffer.from(body).toString();
  return { status, headers, text, json: parsed(text) };
}

async function wholeText(pieces: AsyncIterable<string | Uint8Array>): Promise<string> {
  const bytes: Buffer[] = [];
  for await (const piece of pieces) bytes.push(Buffer.from(piece));
  return Buffer.concat(bytes).toString();
}

function parsed(text: string): Wire {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The frames of an SSE body: the value of each field, comments left out. */
export function framesOf(
  text: string,
): readonly { readonly id?: string; readonly event?: string; readonly data: Wire }[] {
  return text.split('\n\n').flatMap((frame) => {
    const fields = Object.fromEntries(
      frame.split('\n').flatMap((line) => {
        const [, name, value] = /^(\w+): (.*)$/.exec(line) ?? [];
        return name === undefined ? [] : [[name, value]];
      }),
    );
    return fields.data === undefined ? [] : [{ ...fields, data: JSON.parse(fields.data) }];
  });
}
