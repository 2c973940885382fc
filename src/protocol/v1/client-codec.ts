import type { Instant } from '../../base/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { ContextId, MessageId, TaskId } from '../../model/ids.ts';
import type { Message, Part, Role } from '../../model/message.ts';
import type { TaskState } from '../../model/task.ts';
import { decodeBase64 } from './base64.ts';
import { count, field, flag, list, struct, text, texts } from './lenient.ts';
import { roleName, TASK_STATE_NAMES, taskStateOf } from './names.ts';
import { encodePart } from './parts.ts';
import { parseTimestamp } from './timestamp.ts';

/**
 * What a client reads from a server that may not be ours. These readers refuse nothing: what is missing is empty,
 * what is unknown is kept as data where a person should see it, and both spellings of a name are taken.
 */
export interface RemoteTask {
  readonly id: string;
  readonly contextId: string;
  readonly status: RemoteStatus;
  readonly artifacts: readonly RemoteArtifact[];
  readonly history: readonly Message[];
  readonly metadata: JsonObject;
}

export interface RemoteStatus {
  /** `unspecified` when the server said nothing that we know. */
  readonly state: TaskState | 'unspecified';
  readonly message?: Message;
  readonly at?: Instant;
}

export interface RemoteArtifact {
  readonly artifactId: string;
  readonly name?: string;
  readonly description?: string;
  readonly parts: readonly Part[];
  readonly metadata: JsonObject;
}

/** One frame of a stream, and the answer of a send. `unknown`: a kind that this client does not know. */
export type StreamItem =
  | { readonly kind: 'task'; readonly task: RemoteTask }
  | { readonly kind: 'message'; readonly message: Message }
  | {
      readonly kind: 'status';
      readonly taskId: string;
      readonly contextId: string;
      readonly status: RemoteStatus;
      readonly metadata: JsonObject;
    }
  | {
      readonly kind: 'artifact';
      readonly taskId: string;
      readonly contextId: string;
      readonly artifact: RemoteArtifact;
      readonly append: boolean;
      readonly lastChunk: boolean;
      readonly metadata: JsonObject;
    }
  | { readonly kind: 'unknown' };

export interface RemoteTaskList {
  readonly tasks: readonly RemoteTask[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}

export function decodeTask(json: unknown): RemoteTask {
  return {
    id: text(json, 'id'),
    contextId: text(json, 'contextId'),
    status: decodeStatus(field(json, 'status')),
    artifacts: list(json, 'artifacts').map(decodeArtifact),
    history: list(json, 'history').map(decodeMessage),
    metadata: struct(json, 'metadata'),
  };
}

function decodeStatus(json: unknown): RemoteStatus {
  const message = field(json, 'message');
  const at = parseTimestamp(text(json, 'timestamp'));
  return {
    state: decodeState(field(json, 'state')),
    ...(isJsonObject(message) ? { message: decodeMessage(message) } : {}),
    ...(at === undefined ? {} : { at }),
  };
}

function decodeState(json: unknown): RemoteStatus['state'] {
  const name = typeof json === 'number' ? TASK_STATE_NAMES[json] : json;
  return (typeof name === 'string' ? taskStateOf(name) : undefined) ?? 'unspecified';
}

export function decodeMessage(json: unknown): Message {
  const contextId = text(json, 'contextId');
  const taskId = text(json, 'taskId');
  const referenceTaskIds = texts(json, 'referenceTaskIds');
  const extensions = texts(json, 'extensions');
  const metadata = field(json, 'metadata');
  return {
    messageId: text(json, 'messageId') as MessageId,
    role: decodeRole(field(json, 'role')),
    parts: list(json, 'parts').map(decodePart),
    ...(contextId === '' ? {} : { contextId: contextId as ContextId }),
    ...(taskId === '' ? {} : { taskId: taskId as TaskId }),
    ...(referenceTaskIds.length === 0 ? {} : { referenceTaskIds }),
    ...(extensions.length === 0 ? {} : { extensions }),
    ...(isJsonObject(metadata) ? { metadata } : {}),
  };
}

function decodeRole(json: unknown): Role {
  return json === 'ROLE_USER' || json === 'user' || json === 1 ? 'user' : 'agent';
}

function decodeArtifact(json: unknown): RemoteArtifact {
  const name = text(json, 'name');
  const description = text(json, 'description');
  return {
    artifactId: text(json, 'artifactId'),
    ...(name === '' ? {} : { name }),
    ...(description === '' ? {} : { description }),
    parts: list(json, 'parts').map(decodePart),
    metadata: struct(json, 'metadata'),
  };
}

/** A part of a kind that we do not know is shown whole, as data: nothing a server says is dropped. */
function decodePart(json: unknown): Part {
  const mediaType = text(json, 'mediaType');
  const filename = text(json, 'filename');
  const metadata = field(json, 'metadata');
  return {
    ...decodeContent(json),
    ...(mediaType === '' ? {} : { mediaType }),
    ...(filename === '' ? {} : { filename }),
    ...(isJsonObject(metadata) ? { metadata } : {}),
  };
}

function decodeContent(json: unknown): Part {
  const words = field(json, 'text');
  if (typeof words === 'string') return { kind: 'text', text: words };
  const raw = field(json, 'raw');
  const bytes = typeof raw === 'string' ? decodeBase64(raw) : undefined;
  if (bytes !== undefined) return { kind: 'raw', raw: bytes };
  const url = field(json, 'url');
  if (typeof url === 'string') return { kind: 'url', url };
  const data = isJsonObject(json) ? json.data : undefined;
  return { kind: 'data', data: data === undefined ? (json as Json) : data };
}

/** Also reads a `SendMessageResponse`, which has the same shape. */
export function decodeStreamResponse(json: unknown): StreamItem {
  const task = field(json, 'task');
  if (task !== undefined) return { kind: 'task', task: decodeTask(task) };
  const message = field(json, 'message');
  if (message !== undefined) return { kind: 'message', message: decodeMessage(message) };
  const status = field(json, 'statusUpdate');
  if (status !== undefined)
    return { kind: 'status', ...placeOf(status), status: decodeStatus(field(status, 'status')) };
  const update = field(json, 'artifactUpdate');
  if (update === undefined) return { kind: 'unknown' };
  return {
    kind: 'artifact',
    ...placeOf(update),
    artifact: decodeArtifact(field(update, 'artifact')),
    append: flag(update, 'append'),
    lastChunk: flag(update, 'lastChunk'),
  };
}

function placeOf(json: unknown): {
  readonly taskId: string;
  readonly contextId: string;
  readonly metadata: JsonObject;
} {
  return { taskId: text(json, 'taskId'), contextId: text(json, 'contextId'), metadata: struct(json, 'metadata') };
}

export function decodeListTasksResponse(json: unknown): RemoteTaskList {
  return {
    tasks: list(json, 'tasks').map(decodeTask),
    nextPageToken: text(json, 'nextPageToken'),
    pageSize: count(json, 'pageSize'),
    totalSize: count(json, 'totalSize'),
  };
}

/** What a client sends. `configuration` holds what differs from the defaults. */
export interface OutgoingMessage {
  readonly tenant?: string;
  readonly message: Message;
  readonly configuration?: {
    readonly acceptedOutputModes?: readonly string[];
    readonly historyLength?: number;
    readonly returnImmediately?: boolean;
  };
  readonly metadata?: JsonObject;
}

/** A2A `SendMessageRequest`, for both kinds of send. Unlike the server's messages it names a context only where its author did. */
export function encodeSendMessageRequest(request: OutgoingMessage): JsonObject {
  const { tenant, message, configuration, metadata } = request;
  return {
    ...(tenant === undefined || tenant === '' ? {} : { tenant }),
    message: encodeUserMessage(message),
    ...(configuration === undefined ? {} : { configuration: { ...configuration } }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

function encodeUserMessage(message: Message): JsonObject {
  const { contextId, taskId, referenceTaskIds, extensions, metadata } = message;
  return {
    messageId: message.messageId,
    ...(contextId === undefined ? {} : { contextId }),
    ...(taskId === undefined ? {} : { taskId }),
    role: roleName(message.role),
    parts: message.parts.map(encodePart),
    ...(metadata === undefined ? {} : { metadata }),
    ...(extensions === undefined ? {} : { extensions }),
    ...(referenceTaskIds === undefined ? {} : { referenceTaskIds }),
  };
}
