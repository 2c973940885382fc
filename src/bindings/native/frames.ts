import type { StoredEvent } from '../../model/event.ts';
import { audienceOf } from '../../model/event.ts';
import type { Task } from '../../model/task.ts';
import type { StreamItem, TaskStream } from '../../operations/operations.ts';
import { correlationOf } from '../../protocol/v1/correlation.ts';
import type { TaskSnapshot } from '../../protocol/v1/encode.ts';
import { messageResponse } from '../a2a-frames.ts';
import type { DoorParts } from '../door.ts';
import { encodeFrame } from '../http/sse.ts';
import { statusBody } from '../http/status-body.ts';
import { nativeEvent, nativeTask } from './encode.ts';

/** How soon a reader comes back after a last word, unless its client knows better. */
const RETRY_MS = 1_000;
const PIECE_CHARS = 64 * 1024;

/** A log as it is followed: where a reader cannot go on from its cursor, a snapshot stands first. */
export interface Followed {
  readonly snapshot?: TaskSnapshot & { readonly task: Task };
  readonly task: Task;
  readonly items: AsyncIterable<readonly StreamItem[]>;
}

/** The frames of a log: each event under its kind, with the cursor that resumes right after it. */
export async function* nativeFrames(parts: DoorParts, followed: Followed, signal: AbortSignal): AsyncGenerator<string> {
  try {
    if (followed.snapshot !== undefined) yield snapshotFrame(parts, followed.snapshot);
    for await (const items of followed.items) yield* pieces(parts, followed.task, items);
  } catch (error) {
    if (!signal.aborted) yield encodeFrame({ event: 'server-error', data: statusText(parts, error) });
  }
}

/** The frames of a message's stream: a snapshot and what follows, or the one message of a reply. */
export function messageFrames(parts: DoorParts, stream: TaskStream, signal: AbortSignal): AsyncIterable<string> {
  if (stream.kind === 'message')
    return oneFrame(encodeFrame({ event: 'message', data: JSON.stringify(messageResponse(stream.message)) }));
  return nativeFrames(parts, { snapshot: stream.first, task: stream.first.task, items: stream.items }, signal);
}

async function* oneFrame(frame: string): AsyncGenerator<string> {
  yield frame;
}

function snapshotFrame(parts: DoorParts, snapshot: TaskSnapshot & { readonly task: Task }): string {
  const id = parts.cursorOf(snapshot.task.headSeq);
  return encodeFrame({ id, event: 'snapshot', data: JSON.stringify(nativeTask(snapshot, id)) });
}

function* pieces(parts: DoorParts, task: Task, items: readonly StreamItem[]): Generator<string> {
  let piece = '';
  for (const item of items) {
    piece += frameOf(parts, task, item);
    if (piece.length < PIECE_CHARS) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/** Followers on this node are handed the same event objects; each text is written once. */
const writtenTexts = new WeakMap<StoredEvent, string>();

function frameOf(parts: DoorParts, task: Task, item: StreamItem): string {
  if (item.kind === 'going-away') {
    return encodeFrame({ event: 'going-away', retryMs: RETRY_MS, data: JSON.stringify(correlationOf(task)) });
  }
  if (item.kind === 'gone') return encodeFrame({ event: 'gone', data: JSON.stringify(correlationOf(task)) });
  const { event } = item;
  if (audienceOf(event) === 'internal') return '';
  let text = writtenTexts.get(event);
  if (text === undefined) {
    text = JSON.stringify(nativeEvent(item));
    writtenTexts.set(event, text);
  }
  return `id: ${parts.cursorOf(event.seq)}\nevent: ${event.kind}\ndata: ${text}\n\n`;
}

function statusText(parts: DoorParts, error: unknown): string {
  return JSON.stringify(statusBody(parts.faults.of(error)));
}
