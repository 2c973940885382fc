import type { Json } from '../base/json.ts';
import { ClientError } from './client-error.ts';
import { reasonOf } from './http.ts';
import { readSse } from './sse-reader.ts';
import type { Frame } from './transport.ts';

export function isEventStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') === true;
}

/** Frames of an event stream. `read` unwraps one and throws the error it may hold; a connection that breaks is `lost`. */
export async function* framesOf(
  response: Response,
  options: { readonly signal: AbortSignal; readonly read: (json: unknown) => Json },
): AsyncGenerator<Frame> {
  if (response.body === null) return;
  try {
    for await (const event of readSse(response.body)) {
      const json = options.read(parse(event.data));
      yield { json, ...(event.id === undefined || event.id === '' ? {} : { id: event.id }) };
    }
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    if (error instanceof ClientError) throw error;
    throw new ClientError('lost', `The stream broke off: ${reasonOf(error)}`, { cause: error });
  }
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (error) {
    throw new ClientError('bad-answer', 'A frame of the stream is not JSON.', { cause: error });
  }
}

/** A stream of one frame: of a server that answered a stream plainly, and of a task that had ended already. */
export async function* onlyFrame(frame: Frame): AsyncGenerator<Frame> {
  yield frame;
}
