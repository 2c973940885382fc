import { formatInstant, type Instant } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Artifact, ArtifactHeader } from '../../model/artifact.ts';
import type { ArtifactId, ContextId, TaskId } from '../../model/ids.ts';
import type { Message, Part } from '../../model/message.ts';
import type { TaskState } from '../../model/task.ts';
import type { TaskContent } from '../../model/task-fold.ts';
import { type CorrelatedTask, correlationOf } from './correlation.ts';
import { CORRELATION_KEY, roleName, taskStateName } from './names.ts';
import { encodeParts } from './parts.ts';

/** A task row with its content, as a snapshot of the store holds them. Blobs are left as they are: a mark stands where their bytes go. */
export interface TaskSnapshot {
  readonly task: CorrelatedTask & {
    readonly state: TaskState;
    readonly stateAt: Instant;
    readonly metadata?: JsonObject;
  };
  readonly content: TaskContent;
}

export interface TaskOptions {
  /** The newest this many messages; absent: all that the snapshot holds. */
  readonly historyLength?: number;
  /** Whether artifacts were asked for; without them the field is left out (A2A 1.0 §3.1.4). */
  readonly artifacts: boolean;
}

/** Where a message stands: what it does not say of itself the server fills in. */
export interface MessagePlace {
  readonly contextId: ContextId;
  readonly taskId?: TaskId;
}

/** A2A `Task`: strict, no empty optional field, our ids under the correlation key. Input artifacts are native's. */
export function encodeTask(snapshot: TaskSnapshot, options: TaskOptions): JsonObject {
  const { task, content } = snapshot;
  const place = { contextId: task.contextId, taskId: task.id };
  const artifacts = options.artifacts ? content.artifacts.filter(({ origin }) => origin === 'output') : [];
  const history = newest(content.history, options.historyLength);
  const status = { state: task.state, at: task.stateAt };
  return {
    id: task.id,
    contextId: task.contextId,
    status: encodeStatus(
      content.statusMessage === undefined ? status : { ...status, message: content.statusMessage },
      place,
    ),
    ...(artifacts.length === 0 ? {} : { artifacts: artifacts.map(encodeArtifact) }),
    ...(history.length === 0 ? {} : { history: history.map((message) => encodeMessage(message, place)) }),
    metadata: { ...task.metadata, [CORRELATION_KEY]: correlationOf(task) },
  };
}

function newest(history: readonly Message[], historyLength: number | undefined): readonly Message[] {
  if (historyLength === undefined || historyLength >= history.length) return history;
  return history.slice(history.length - historyLength);
}

/** A2A `TaskStatus`, with the time in milliseconds and UTC. */
export function encodeStatus(
  status: { readonly state: TaskState; readonly at: Instant; readonly message?: Message },
  place: MessagePlace,
): JsonObject {
  return {
    state: taskStateName(status.state),
    ...(status.message === undefined ? {} : { message: encodeMessage(status.message, place) }),
    timestamp: formatInstant(status.at),
  };
}

/** A2A `Message`. Every message that leaves the server says its context, and its task where there is one. */
export function encodeMessage(message: Message, place: MessagePlace): JsonObject {
  const taskId = message.taskId ?? place.taskId;
  const { referenceTaskIds, extensions, metadata } = message;
  return {
    messageId: message.messageId,
    contextId: message.contextId ?? place.contextId,
    ...(taskId === undefined ? {} : { taskId }),
    role: roleName(message.role),
    parts: encodeParts(message.parts),
    ...(metadata === undefined ? {} : { metadata }),
    ...(extensions === undefined || extensions.length === 0 ? {} : { extensions }),
    ...(referenceTaskIds === undefined || referenceTaskIds.length === 0 ? {} : { referenceTaskIds }),
  };
}

/** A2A `Artifact`; also the piece of one that an update carries, with a header or without. */
export function encodeArtifact(artifact: Pick<Artifact, 'artifactId' | 'header' | 'parts'>): JsonObject {
  return encodeArtifactPiece(artifact.artifactId, artifact.header, artifact.parts);
}

export function encodeArtifactPiece(
  artifactId: ArtifactId,
  header: ArtifactHeader,
  parts: readonly Part[],
): JsonObject {
  const { name, description, metadata, extensions } = header;
  return {
    artifactId,
    ...(name === undefined || name === '' ? {} : { name }),
    ...(description === undefined || description === '' ? {} : { description }),
    parts: encodeParts(parts),
    ...(metadata === undefined ? {} : { metadata }),
    ...(extensions === undefined || extensions.length === 0 ? {} : { extensions }),
  };
}

/** What a send answers: the task as it stands with all its artifacts, or one message of an agent that needed no task. */
export type SendOutcome =
  | { readonly task: TaskSnapshot; readonly historyLength?: number }
  | { readonly message: Message; readonly contextId: ContextId };

/** A2A `SendMessageResponse`; the first frame of a stream (`StreamResponse`) is the same. */
export function encodeSendMessageResponse(outcome: SendOutcome): JsonObject {
  if ('message' in outcome) return { message: encodeMessage(outcome.message, { contextId: outcome.contextId }) };
  const { task, historyLength } = outcome;
  return { task: encodeTask(task, { artifacts: true, ...(historyLength === undefined ? {} : { historyLength }) }) };
}

/** A2A `Task` as it stands in a list: where artifacts were asked for, one without any says so with an empty array (A2A 1.0 §3.1.4). */
export function encodeListedTask(snapshot: TaskSnapshot, options: TaskOptions): JsonObject {
  const task = encodeTask(snapshot, options);
  return options.artifacts && task.artifacts === undefined ? { ...task, artifacts: [] } : task;
}
