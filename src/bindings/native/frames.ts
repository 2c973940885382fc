import { audienceOf } from '../../model/event.ts';
import type { Task } from '../../model/task.ts';
import type { StreamEvent, StreamItem, TaskShown, TaskStream } from '../../operations/operations.ts';
import { correlationOf } from '../../protocol/v1/correlation.ts';
import { messageResponse } from '../a2a-frames.ts';
import type { DoorParts } from '../door.ts';
import { encodeFrame } from '../http/sse.ts';
import { statusBody } from '../http/status-body.ts';
import { BrokenFrame, frameOf, framePieces, type LongFrame } from '../long-frames.ts';
import { prepare, taskAnswer, taskFrame } from '../task-answers.ts';
import { nativeForm } from './answers.ts';
import { nativeEvent } from './encode.ts';

/** How soon a reader comes back after a last word, unless its client knows better. */
const RETRY_MS = 1_000;

/** A log as it is followed: where a reader cannot go on from its cursor, a snapshot stands first. */
export interface Followed {
  readonly snapshot?: TaskShown;
  readonly task: Task;
  readonly items: AsyncIterable<readonly StreamItem[]>;
}

/** The frames of a log: each event under its kind, with the cursor that resumes right after it. */
export async function* nativeFrames(parts: DoorParts, followed: Followed, signal: AbortSignal): AsyncGenerator<string> {
  try {
    if (followed.snapshot !== undefined) yield* snapshotFrame(parts, followed.snapshot);
    yield* eventFrames(parts, followed.task, followed.items);
  } catch (error) {
    if (error instanceof BrokenFrame) throw error;
    if (!signal.aborted) yield encodeFrame({ event: 'server-error', data: statusText(parts, error) });
  }
}

/** The frames of a message's stream: a snapshot and what follows, or the one message of a reply. */
export async function messageFrames(
  parts: DoorParts,
  stream: TaskStream,
  signal: AbortSignal,
): Promise<AsyncIterable<string>> {
  if (stream.kind === 'message')
    return oneFrame(encodeFrame({ event: 'message', data: JSON.stringify(messageResponse(stream.message)) }));
  await prepareSnapshot(parts, stream.first);
  return nativeFrames(parts, { snapshot: stream.first, task: stream.first.task, items: stream.items }, signal);
}

async function* oneFrame(frame: string): AsyncGenerator<string> {
  yield frame;
}

/** Has the snapshot of a large task written, so that what is wrong with it is a plain error and no broken stream. */
export async function prepareSnapshot(parts: DoorParts, snapshot: TaskShown | undefined): Promise<void> {
  if (snapshot === undefined || 'content' in snapshot) return;
  await prepare(parts, taskAnswer(snapshot, nativeForm(parts)));
}

function snapshotFrame(parts: DoorParts, snapshot: TaskShown): AsyncGenerator<string> {
  const before = `id: ${parts.cursorOf(snapshot.task.headSeq)}\nevent: snapshot\ndata: `;
  return taskFrame(parts, taskAnswer(snapshot, nativeForm(parts)), { before, after: '\n\n' });
}

async function* eventFrames(
  parts: DoorParts,
  task: Task,
  items: AsyncIterable<readonly StreamItem[]>,
): AsyncGenerator<string> {
  let current: StreamEvent | undefined;
  const texts = parts.texts.native.join(task.id, () =>
    current === undefined ? undefined : JSON.stringify(nativeEvent(current)),
  );
  const write = (item: StreamItem): string | LongFrame => {
    if (item.kind !== 'event') return lastFrame(task, item.kind);
    if (audienceOf(item.event) === 'internal') return '';
    current = item;
    const { event } = item;
    return frameOf(`id: ${parts.cursorOf(event.seq)}\nevent: ${event.kind}\ndata: `, texts.of(event) ?? '', '\n\n');
  };
  try {
    yield* framePieces(items, write, parts.readBlob);
  } finally {
    texts.leave();
  }
}

function lastFrame(task: Task, kind: 'going-away' | 'gone'): string {
  const data = JSON.stringify(correlationOf(task));
  return encodeFrame(kind === 'gone' ? { event: kind, data } : { event: kind, retryMs: RETRY_MS, data });
}

function statusText(parts: DoorParts, error: unknown): string {
  return JSON.stringify(statusBody(parts.faults.of(error)));
}
