import { CodedError } from '../base/errors.ts';
import type { ContextId, RunId, TaskId } from '../model/ids.ts';
import type { Message } from '../model/message.ts';
import type { Task } from '../model/task.ts';
import type { StreamEvent, StreamItem, TaskStream } from '../operations/operations.ts';
import { encodeSendMessageResponse } from '../protocol/v1/encode.ts';
import { createStreamWriter } from '../protocol/v1/events.ts';
import type { DoorParts } from './door.ts';
import type { Fault } from './http/fault.ts';
import { encodeFrame } from './http/sse.ts';
import { BrokenFrame, frameOf, framePieces, type LongFrame } from './long-frames.ts';
import { a2aForm, prepare, taskFrame, underTask } from './task-answers.ts';

/** What a binding writes around a `StreamResponse` and an error. */
export interface FrameShape {
  readonly before: string;
  readonly after: string;
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
      yield encodeFrame({ data: shape.before + JSON.stringify(messageResponse(stream.message)) + shape.after });
      return;
    }
    yield* firstFrame(parts, stream.first, options);
    yield* eventFrames(parts, { task: stream.first.task, items: stream.items }, shape);
  } catch (error) {
    if (error instanceof BrokenFrame) throw error;
    if (!signal.aborted) yield encodeFrame({ data: shape.error(parts.faults.of(error)) });
  }
}

/** A2A `SendMessageResponse` of a direct reply. */
export function messageResponse(message: Message): ReturnType<typeof encodeSendMessageResponse> {
  return encodeSendMessageResponse({ message, contextId: message.contextId ?? ('' as ContextId) });
}

/** Has the first frame of a large task written, so that what is wrong with it is a plain error and no broken stream. */
export async function prepareFirst(
  parts: DoorParts,
  stream: TaskStream,
  historyLength: number | undefined,
): Promise<void> {
  if (stream.kind === 'message' || 'content' in stream.first) return;
  await prepare(parts, underTask(stream.first, a2aForm(historyLength)));
}

function firstFrame(
  parts: DoorParts,
  first: Extract<TaskStream, { kind: 'task' }>['first'],
  options: { readonly shape: FrameShape; readonly historyLength?: number },
): AsyncGenerator<string> {
  const { shape, historyLength } = options;
  const before = `id: ${parts.cursorOf(first.task.headSeq)}\ndata: ${shape.before}`;
  return taskFrame(parts, underTask(first, a2aForm(historyLength)), { before, after: `${shape.after}\n\n` });
}

async function* eventFrames(
  parts: DoorParts,
  { task, items }: { readonly task: Task; readonly items: AsyncIterable<readonly StreamItem[]> },
  shape: FrameShape,
): AsyncGenerator<string> {
  let runId: RunId | undefined;
  const texts = parts.texts.a2a.join(
    task.id,
    createStreamWriter({ ...task, runIdOf: () => runId, currentRunId: () => runId }),
  );
  const write = (item: StreamItem): string | LongFrame => {
    if (item.kind !== 'event') return encodeFrame({ data: shape.error(parts.faults.of(lastWord(item, task.id))) });
    runId = item.runId;
    const text = texts.of(item.event);
    if (text === undefined) return '';
    return frameOf(`id: ${parts.cursorOf(item.event.seq)}\ndata: ${shape.before}`, text, `${shape.after}\n\n`);
  };
  try {
    yield* framePieces(items, write, parts.readBlob);
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
