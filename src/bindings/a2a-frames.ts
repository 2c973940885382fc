import { CodedError } from '../base/errors.ts';
import type { StoredEvent } from '../model/event.ts';
import type { ContextId, RunId, TaskId } from '../model/ids.ts';
import type { Message } from '../model/message.ts';
import type { Task } from '../model/task.ts';
import type { StreamEvent, StreamItem, TaskStream } from '../operations/operations.ts';
import { encodeSendMessageResponse } from '../protocol/v1/encode.ts';
import { createStreamWriter } from '../protocol/v1/events.ts';
import type { DoorParts } from './door.ts';
import type { Fault } from './http/fault.ts';
import { encodeFrame } from './http/sse.ts';

/** What a binding writes around a `StreamResponse` and an error. */
export interface FrameShape {
  result(streamResponse: string): string;
  error(fault: Fault): string;
}

/** Frames are handed on in pieces of about this size, so that one write carries many small ones. */
const PIECE_CHARS = 64 * 1024;

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
    const write = eventFrames(parts, stream.first.task, shape);
    for await (const items of stream.items) yield* pieces(items, write);
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

/** Joins the frames of a batch into pieces. */
function* pieces(items: readonly StreamItem[], write: (item: StreamItem) => string): Generator<string> {
  let piece = '';
  for (const item of items) {
    piece += write(item);
    if (piece.length < PIECE_CHARS) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/** Followers on this node are handed the same event objects, so each text is written once, and lives as long as its event. */
const writtenTexts = new WeakMap<StoredEvent, string>();

function eventFrames(parts: DoorParts, task: Task, shape: FrameShape): (item: StreamItem) => string {
  let runId: RunId | undefined;
  const writeText = createStreamWriter({ ...task, runIdOf: () => runId, currentRunId: () => runId });
  return (item) => {
    if (item.kind !== 'event') return encodeFrame({ data: shape.error(parts.faults.of(lastWord(item, task.id))) });
    const { event } = item;
    runId = item.runId;
    const text = writtenTexts.get(event) ?? writeText(event);
    if (text === undefined) return '';
    writtenTexts.set(event, text);
    return `id: ${parts.cursorOf(event.seq)}\ndata: ${shape.result(text)}\n\n`;
  };
}

/** Why a stream ends before its task does. */
export function lastWord(item: Exclude<StreamItem, StreamEvent>, taskId: TaskId): CodedError {
  if (item.kind === 'gone') {
    return new CodedError('task_not_found', { message: 'The task was deleted.', metadata: { taskId } });
  }
  return new CodedError('unavailable', {
    message: 'The server is going away; the task goes on. Subscribe to it again.',
    metadata: { taskId },
    retryAfterSeconds: 1,
  });
}
