import type { Instant } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import type { ContextId, MessageId, TaskId } from '../../model/ids.ts';
import type { Message } from '../../model/message.ts';
import type { TaskState } from '../../model/task.ts';
import { TASK_STATE_NAMES, taskStateOf } from './names.ts';
import { decodeParts } from './parts.ts';
import { type PushConfig, readPushConfig } from './push-requests.ts';
import { decodeWith, type ObjectReader } from './read.ts';
import { decodeClientRole } from './role.ts';

/** A2A `SendMessageRequest`, also of `SendStreamingMessage`. */
export interface SendMessageRequest {
  readonly tenant?: string;
  readonly message: Message;
  readonly configuration: SendConfiguration;
  readonly metadata?: JsonObject;
}

/** A2A `SendMessageConfiguration`; a request without one has the defaults. */
interface SendConfiguration {
  readonly acceptedOutputModes: readonly string[];
  readonly returnImmediately: boolean;
  /** Absent: no limit. */
  readonly historyLength?: number;
  readonly pushConfig?: PushConfig;
}

export interface GetTaskRequest {
  readonly tenant?: string;
  readonly id: TaskId;
  /** Absent: no limit. */
  readonly historyLength?: number;
}

export interface ListTasksRequest {
  readonly tenant?: string;
  readonly contextId?: ContextId;
  readonly state?: TaskState;
  /** 1 to 100; absent: the server's choice. */
  readonly pageSize?: number;
  /** As it came; the operation knows how to read it. */
  readonly pageToken?: string;
  readonly historyLength?: number;
  /** Inclusive (A2A 1.0 §3.1.4). */
  readonly stateAtFrom?: Instant;
  readonly includeArtifacts: boolean;
}

export interface CancelTaskRequest {
  readonly tenant?: string;
  readonly id: TaskId;
  readonly metadata?: JsonObject;
}

export interface SubscribeToTaskRequest {
  readonly tenant?: string;
  readonly id: TaskId;
}

export interface GetExtendedAgentCardRequest {
  readonly tenant?: string;
}

/** Reads parsed JSON of a `SendMessageRequest`. Throws InvalidParams that names every faulty field. */
export function decodeSendMessageRequest(json: unknown): SendMessageRequest {
  return decodeWith(json, (reader) => {
    const sent = reader.object('message');
    if (!reader.has('message')) reader.problem('message', 'is required');
    const message = sent === undefined ? STAND_IN : decodeUserMessage(sent);
    const configured = reader.object('configuration');
    const configuration = configured === undefined ? defaultConfiguration : decodeConfiguration(configured);
    const metadata = reader.struct('metadata');
    const tenant = reader.string('tenant');
    const request: Draft<SendMessageRequest> = { message, configuration };
    if (tenant !== undefined) request.tenant = tenant;
    if (metadata !== undefined) request.metadata = metadata;
    return request;
  });
}

const STAND_IN: Message = { messageId: '' as MessageId, role: 'user', parts: [] };
const defaultConfiguration: SendConfiguration = { acceptedOutputModes: [], returnImmediately: false };

function decodeUserMessage(reader: ObjectReader): Message {
  const message: Draft<Message> = {
    messageId: reader.requiredId<MessageId>('messageId'),
    role: decodeClientRole(reader),
    parts: decodeParts(reader),
  };
  const contextId = reader.id<ContextId>('contextId');
  const taskId = reader.id<TaskId>('taskId');
  const referenceTaskIds = reader.ids('referenceTaskIds', { max: limits.referencesMax });
  const extensions = reader.strings('extensions', { max: limits.referencesMax });
  const metadata = reader.struct('metadata');
  if (contextId !== undefined) message.contextId = contextId;
  if (taskId !== undefined) message.taskId = taskId;
  if (referenceTaskIds.length > 0) message.referenceTaskIds = referenceTaskIds;
  if (extensions.length > 0) message.extensions = extensions;
  if (metadata !== undefined) message.metadata = metadata;
  return message;
}

function decodeConfiguration(reader: ObjectReader): SendConfiguration {
  const configuration: Draft<SendConfiguration> = {
    acceptedOutputModes: reader.strings('acceptedOutputModes', { max: limits.referencesMax }),
    returnImmediately: reader.bool('returnImmediately') ?? false,
  };
  const historyLength = reader.int32('historyLength', { min: 0 });
  const push = reader.object('taskPushNotificationConfig');
  if (historyLength !== undefined) configuration.historyLength = historyLength;
  if (push !== undefined) configuration.pushConfig = readPushConfig(push);
  return configuration;
}

/** A value while it is put together: on the hot path what is there is assigned, which is cheaper than spreading what is not. */
type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

export function decodeGetTaskRequest(json: unknown): GetTaskRequest {
  return decodeWith(json, (reader) => {
    const historyLength = reader.int32('historyLength', { min: 0 });
    return {
      ...decodeTenant(reader),
      id: reader.requiredId<TaskId>('id'),
      ...(historyLength === undefined ? {} : { historyLength }),
    };
  });
}

/** Every filter that is given is one we understand, or the request is refused: a bad filter never finds nothing in silence. */
export function decodeListTasksRequest(json: unknown): ListTasksRequest {
  return decodeWith(json, (reader) => {
    const contextId = reader.id<ContextId>('contextId');
    const state = taskStateOf(reader.enumName('status', TASK_STATE_NAMES) ?? '');
    const pageSize = reader.int32('pageSize', { min: 1, max: limits.pageItemsMax });
    const pageToken = reader.string('pageToken');
    const historyLength = reader.int32('historyLength', { min: 0 });
    const stateAtFrom = reader.timestamp('statusTimestampAfter');
    return {
      ...decodeTenant(reader),
      ...(contextId === undefined ? {} : { contextId }),
      ...(state === undefined ? {} : { state }),
      ...(pageSize === undefined ? {} : { pageSize }),
      ...(pageToken === undefined ? {} : { pageToken }),
      ...(historyLength === undefined ? {} : { historyLength }),
      ...(stateAtFrom === undefined ? {} : { stateAtFrom }),
      includeArtifacts: reader.bool('includeArtifacts') ?? false,
    };
  });
}

export function decodeCancelTaskRequest(json: unknown): CancelTaskRequest {
  return decodeWith(json, (reader) => {
    const metadata = reader.struct('metadata');
    return {
      ...decodeTenant(reader),
      id: reader.requiredId<TaskId>('id'),
      ...(metadata === undefined ? {} : { metadata }),
    };
  });
}

export function decodeSubscribeToTaskRequest(json: unknown): SubscribeToTaskRequest {
  return decodeWith(json, (reader) => ({ ...decodeTenant(reader), id: reader.requiredId<TaskId>('id') }));
}

export function decodeGetExtendedAgentCardRequest(json: unknown): GetExtendedAgentCardRequest {
  return decodeWith(json, decodeTenant);
}

/** The routing name of an agent, as it came; an empty one is none. */
function decodeTenant(reader: ObjectReader): { readonly tenant?: string } {
  const tenant = reader.string('tenant');
  return tenant === undefined ? {} : { tenant };
}
