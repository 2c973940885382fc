import { limits } from '../../base/limits.ts';
import type { TaskId } from '../../model/ids.ts';
import { decodeWith, type ObjectReader } from './read.ts';

/** A2A `TaskPushNotificationConfig` as a client sends it. The url is text here; the push part judges where it leads. */
export interface PushConfig {
  readonly tenant?: string;
  readonly id?: string;
  readonly taskId?: TaskId;
  readonly url: string;
  readonly token?: string;
  readonly authentication?: { readonly scheme: string; readonly credentials?: string };
}

export interface CreatePushConfigRequest extends PushConfig {
  readonly taskId: TaskId;
}

/** Get and Delete name one config of one task. */
export interface PushConfigRequest {
  readonly tenant?: string;
  readonly taskId: TaskId;
  readonly id: string;
}

export interface ListPushConfigsRequest {
  readonly tenant?: string;
  readonly taskId: TaskId;
  readonly pageSize?: number;
  readonly pageToken?: string;
}

/** `CreateTaskPushNotificationConfig`: the request is the config itself. */
export function decodeCreatePushConfigRequest(json: unknown): CreatePushConfigRequest {
  return decodeWith(json, (reader) => ({
    ...readPushConfig(reader),
    taskId: reader.requiredId<TaskId>('taskId'),
  }));
}

/** `GetTaskPushNotificationConfig` and `DeleteTaskPushNotificationConfig`. */
export function decodePushConfigRequest(json: unknown): PushConfigRequest {
  return decodeWith(json, (reader) => {
    const tenant = reader.string('tenant');
    return {
      ...(tenant === undefined ? {} : { tenant }),
      taskId: reader.requiredId<TaskId>('taskId'),
      id: reader.requiredId('id'),
    };
  });
}

export function decodeListPushConfigsRequest(json: unknown): ListPushConfigsRequest {
  return decodeWith(json, (reader) => {
    const tenant = reader.string('tenant');
    const pageSize = reader.int32('pageSize', { min: 0, max: limits.pageItemsMax });
    const pageToken = reader.string('pageToken');
    return {
      ...(tenant === undefined ? {} : { tenant }),
      taskId: reader.requiredId<TaskId>('taskId'),
      ...(pageSize === undefined || pageSize === 0 ? {} : { pageSize }),
      ...(pageToken === undefined ? {} : { pageToken }),
    };
  });
}

/** Reads the fields of a config, wherever it stands. */
export function readPushConfig(reader: ObjectReader): PushConfig {
  const tenant = reader.string('tenant');
  const id = reader.id<string>('id');
  const taskId = reader.id<TaskId>('taskId');
  const token = reader.string('token');
  const authentication = reader.object('authentication');
  return {
    url: requiredString(reader, 'url'),
    ...(tenant === undefined ? {} : { tenant }),
    ...(id === undefined ? {} : { id }),
    ...(taskId === undefined ? {} : { taskId }),
    ...(token === undefined ? {} : { token }),
    ...(authentication === undefined ? {} : { authentication: readAuthentication(authentication) }),
  };
}

function readAuthentication(reader: ObjectReader): NonNullable<PushConfig['authentication']> {
  const credentials = reader.string('credentials');
  return { scheme: requiredString(reader, 'scheme'), ...(credentials === undefined ? {} : { credentials }) };
}

function requiredString(reader: ObjectReader, name: string): string {
  const text = reader.requiredText(name);
  if (text === '') reader.problem(name, 'must not be empty');
  return text ?? '';
}
