import type { JsonObject } from '../../base/json.ts';
import type { StoredEvent } from '../../model/event.ts';
import type { ArtifactId, RunId, RunNo } from '../../model/ids.ts';
import type { Part } from '../../model/message.ts';
import { type CorrelatedTask, correlationOf } from './correlation.ts';
import { encodeArtifactPiece, encodeStatus } from './encode.ts';
import { CORRELATION_KEY, DISCARDED_KEY } from './names.ts';
import { encodeBase64, encodePart } from './parts.ts';

/** The task that a stream follows; its row will do. */
export interface StreamTask extends CorrelatedTask {
  /** The id of a run of this task, where the reader of the stream knows it. */
  runIdOf?(runNo: RunNo): RunId | undefined;
  /** The run whose status is being written; a status names no run of its own. */
  currentRunId?(): RunId | undefined;
}

type EventOf<Kind extends StoredEvent['kind']> = Extract<StoredEvent, { readonly kind: Kind }>;

/**
 * The `StreamResponse` of one event, or undefined for what A2A streams do not carry: they hold status and artifact
 * updates, nothing else. `append` and `lastChunk` are written when true; absent means false (ProtoJSON).
 */
export function encodeStreamEvent(event: StoredEvent, task: StreamTask): JsonObject | undefined {
  switch (event.kind) {
    case 'status-changed':
      return { statusUpdate: encodeStatusUpdate(event, task) };
    case 'artifact-updated':
      return event.origin === 'output' ? { artifactUpdate: encodeArtifactUpdate(event, task) } : undefined;
    case 'artifact-discarded':
      return { artifactUpdate: encodeDiscard(event, task) };
    default:
      return undefined;
  }
}

function encodeStatusUpdate(event: EventOf<'status-changed'>, task: StreamTask): JsonObject {
  return {
    taskId: task.id,
    contextId: task.contextId,
    status: encodeStatus(event, { contextId: task.contextId, taskId: task.id }),
    metadata: correlationMetadata(event, task),
  };
}

function encodeArtifactUpdate(event: EventOf<'artifact-updated'>, task: StreamTask): JsonObject {
  return {
    taskId: task.id,
    contextId: task.contextId,
    artifact: encodeArtifactPiece(event.artifactId, event.header ?? {}, event.parts),
    ...(event.append ? { append: true } : {}),
    ...(event.lastChunk ? { lastChunk: true } : {}),
    metadata: correlationMetadata(event, task),
  };
}

/** A2A has no word for "forget this artifact": it is replaced by an empty text, closed, and marked for those who know the key. */
function encodeDiscard(event: EventOf<'artifact-discarded'>, task: StreamTask): JsonObject {
  return {
    taskId: task.id,
    contextId: task.contextId,
    artifact: encodeArtifactPiece(event.artifactId, {}, []),
    lastChunk: true,
    metadata: { ...correlationMetadata(event, task), [DISCARDED_KEY]: true },
  };
}

function correlationMetadata(event: StoredEvent & { readonly runNo?: RunNo }, task: StreamTask): JsonObject {
  const runId = event.runNo === undefined ? task.currentRunId?.() : task.runIdOf?.(event.runNo);
  return { [CORRELATION_KEY]: correlationOf(task, { seq: event.seq, ...(runId === undefined ? {} : { runId }) }) };
}

/**
 * Writes the `StreamResponse` of each event as JSON text, equal to `JSON.stringify(encodeStreamEvent(event, task))`.
 * Chunks of an artifact are the hot path: what is the same in all of them is written once, and only their text is escaped.
 */
export function createStreamWriter(task: StreamTask): (event: StoredEvent) => string | undefined {
  const opening = `{"artifactUpdate":{"taskId":${quote(task.id)},"contextId":${quote(task.contextId)},"artifact":{"artifactId":`;
  const correlation = JSON.stringify(correlationOf(task)).slice(0, -1);
  const closing = `"metadata":{${quote(CORRELATION_KEY)}:${correlation}`;
  const quoteArtifactId = keepLast<ArtifactId>(quote);
  const writeRunId = keepLast<RunNo, string | undefined>((runNo) => {
    const runId = task.runIdOf?.(runNo);
    return runId === undefined ? undefined : `,"runId":${quote(runId)}`;
  });
  return (event) => {
    if (event.kind !== 'artifact-updated' || event.header !== undefined || event.origin !== 'output') {
      const update = encodeStreamEvent(event, task);
      return update === undefined ? undefined : JSON.stringify(update);
    }
    const flags = `${event.append ? '"append":true,' : ''}${event.lastChunk ? '"lastChunk":true,' : ''}`;
    const runId = event.runNo === undefined ? '' : (writeRunId(event.runNo) ?? '');
    return `${opening}${quoteArtifactId(event.artifactId)},"parts":${partsText(event.parts)}},${flags}${closing}${runId},"seq":${event.seq}}}}}`;
  };
}

function partsText(parts: readonly Part[]): string {
  return parts.length === 0 ? '[{"text":""}]' : `[${parts.map(partText).join(',')}]`;
}

function partText(part: Part): string {
  if (part.metadata === undefined && part.filename === undefined && part.mediaType === undefined) {
    if (part.kind === 'text') return `{"text":${quote(part.text)}}`;
    if (part.kind === 'raw') return `{"raw":"${encodeBase64(part.raw)}"}`;
  }
  return JSON.stringify(encodePart(part));
}

function quote(text: string): string {
  return JSON.stringify(text);
}

/** Remembers the last result, since chunks of one artifact and one run follow each other. Undefined may be known later: it is not kept. */
function keepLast<Key, Text extends string | undefined = string>(write: (key: Key) => Text): (key: Key) => Text {
  let last: { readonly key: Key; readonly text: Text } | undefined;
  return (key) => {
    if (last === undefined || last.key !== key || last.text === undefined) last = { key, text: write(key) };
    return last.text;
  };
}
