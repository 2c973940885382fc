import { CodedError } from '../base/errors.ts';
import type { ContextId, RunId, TaskId } from '../model/ids.ts';
import type { Message } from '../model/message.ts';
import type { StreamEvent, StreamItem, TaskStream } from '../operations/operations.ts';
import { encodeSendMessageResponse } from '../protocol/v1/encode.ts';
import { createStreamWriter } from '../protocol/v1/events.ts';
import type { DoorParts } from './door.ts';
import type { Fault } from './http/fault.ts';
import { encodeFrame, inPieces } from './http/sse.ts';

/** What a binding writes around a `StreamResponse` and an error. */
export interface FrameShape {
  result(streamResponse: string): string;
  error(fault: Fault): string;
}

/**
 * The frames of an A2A stream: the task or the one message, then status and artifact updates, each with its cursor as
 * id. A stream that is cut by the server has a last word, an error, so that nobody takes it for a finished one.
 */
export async function* a2aFrames(
  parts: DoorParts,
  stream: TaskStream,
  options: { readonly shape: FrameShape; readonly signal: AbortSignal; readonly historyLength?: number },
): AsyncGenerator<string> {
  const { shape, signal } = options;
  try {
    if (stream.kind === 'message') {
      yield encodeFrame({ data: shape.result(JSON.stringify(messageResponse(stream.message))) });
      return;
    }
    yield firstFrame(parts, stream.first, options);
    yield* eventFrames(parts, stream, shape);
  } catch (error) {
    if (!signal.aborted) yield encodeFrame({ data: shape.error(parts.faults.of(error)) });
  }
}

/** A2A `SendMessageResponse` of a direct reply. */
export function messageResponse(message: Message): ReturnType<typeof encodeSendMessageResponse> {
  return encodeSendMessageResponse({ message, contextId: message.contextId ?? ('' as ContextId) });
}

function firstFrame(
  parts: DoorParts,
  first: Extract<TaskStream, { kind: 'task' }>['first'],
  options: { readonly shape: FrameShape; readonly historyLength?: number },
): string {
  const { historyLength } = options;
  const response = encodeSendMessageResponse({
    task: first,
    ...(historyLength === undefined ? {} : { historyLength }),
  });
  return encodeFrame({
    id: parts.cursorOf(first.task.headSeq),
    data: options.shape.result(JSON.stringify(response)),
  });
}

async function* eventFrames(
  parts: DoorParts,
  { first, items }: Extract<TaskStream, { kind: 'task' }>,
  shape: FrameShape,
): AsyncGenerator<string> {
  const { task } = first;
  let runId: RunId | undefined;
  const texts = parts.texts.a2a.join(
    task.id,
    createStreamWriter({ ...task, runIdOf: () => runId, currentRunId: () => runId }),
  );
  const write = (item: StreamItem): string => {
    if (item.kind !== 'event') return encodeFrame({ data: shape.error(parts.faults.of(lastWord(item, task.id))) });
    runId = item.runId;
    const text = texts.of(item.event);
    return text === undefined ? '' : `id: ${parts.cursorOf(item.event.seq)}\ndata: ${shape.result(text)}\n\n`;
  };
  try {
    for await (const batch of items) yield* inPieces(batch, write);
  } finally {
    texts.leave();
  }
}

/** Why a stream ends before its task does. */
function lastWord(item: Exclude<StreamItem, StreamEvent>, taskId: TaskId): CodedError {
  if (item.kind === 'gone') {
    return new CodedError('task_not_found', { message: 'The task was deleted.', metadata: { taskId } });
  }
  return new CodedError('unavailable', {
    message: 'The server is going away; the task goes on. Subscribe to it again.',
    metadata: { taskId },
    retryAfterSeconds: 1,
  });
}
