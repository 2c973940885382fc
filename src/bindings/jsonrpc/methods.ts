import { CodedError, fieldError } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import type { Call, Operations, TaskStream } from '../../operations/operations.ts';
import {
  decodeCancelTaskRequest,
  decodeGetExtendedAgentCardRequest,
  decodeGetTaskRequest,
  decodeListTasksRequest,
  decodeSendMessageRequest,
  decodeSubscribeToTaskRequest,
} from '../../protocol/v1/decode.ts';
import {
  decodeCreatePushConfigRequest,
  decodeListPushConfigsRequest,
  decodePushConfigRequest,
} from '../../protocol/v1/push-requests.ts';
import { cancelTask, getTask, listTasks, sendMessage, sendParams } from '../a2a-calls.ts';
import type { LargeAnswer } from '../task-answers.ts';

/** What a method answers: one JSON value, or a stream and how much history its first task shows. */
export type MethodResult =
  | { readonly kind: 'value'; readonly json: Json | LargeAnswer }
  | { readonly kind: 'stream'; readonly stream: TaskStream; readonly historyLength?: number };

/** Makes the call once the agent is known; the tenant stands in the params. */
type CallFor = (tenant: string | undefined) => Call;
export type Method = (operations: Operations, params: unknown, callFor: CallFor) => Promise<MethodResult>;

const methods: Readonly<Record<string, Method>> = {
  async SendMessage(operations, params, callFor) {
    const request = decodeSendMessageRequest(params);
    return value(await sendMessage(operations, callFor(request.tenant), request));
  },
  async SendStreamingMessage(operations, params, callFor) {
    const request = decodeSendMessageRequest(params);
    const stream = await operations.streamMessage(callFor(request.tenant), sendParams(request));
    const { historyLength } = request.configuration;
    return { kind: 'stream', stream, ...(historyLength === undefined ? {} : { historyLength }) };
  },
  async GetTask(operations, params, callFor) {
    const request = decodeGetTaskRequest(params);
    return value(await getTask(operations, callFor(request.tenant), request));
  },
  async ListTasks(operations, params, callFor) {
    const request = decodeListTasksRequest(params);
    return value(await listTasks(operations, callFor(request.tenant), request));
  },
  async CancelTask(operations, params, callFor) {
    const request = decodeCancelTaskRequest(params);
    return value(await cancelTask(operations, callFor(request.tenant), request));
  },
  async SubscribeToTask(operations, params, callFor) {
    const request = decodeSubscribeToTaskRequest(params);
    return { kind: 'stream', stream: await operations.subscribeToTask(callFor(request.tenant), { id: request.id }) };
  },
  CreateTaskPushNotificationConfig: (operations, params, callFor) =>
    operations.pushConfig(callFor(decodeCreatePushConfigRequest(params).tenant)),
  GetTaskPushNotificationConfig: (operations, params, callFor) =>
    operations.pushConfig(callFor(decodePushConfigRequest(params).tenant)),
  ListTaskPushNotificationConfigs: (operations, params, callFor) =>
    operations.pushConfig(callFor(decodeListPushConfigsRequest(params).tenant)),
  DeleteTaskPushNotificationConfig: (operations, params, callFor) =>
    operations.pushConfig(callFor(decodePushConfigRequest(params).tenant)),
  GetExtendedAgentCard: (operations, params, callFor) =>
    operations.getExtendedAgentCard(callFor(decodeGetExtendedAgentCardRequest(params).tenant)),
};

/** What A2A 0.3 called them. */
const formerNames: Readonly<Record<string, string>> = {
  'message/send': 'SendMessage',
  'message/stream': 'SendStreamingMessage',
  'tasks/get': 'GetTask',
  'tasks/list': 'ListTasks',
  'tasks/cancel': 'CancelTask',
  'tasks/resubscribe': 'SubscribeToTask',
  'tasks/pushNotificationConfig/set': 'CreateTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/get': 'GetTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/list': 'ListTaskPushNotificationConfigs',
  'tasks/pushNotificationConfig/delete': 'DeleteTaskPushNotificationConfig',
  'agent/getAuthenticatedExtendedCard': 'GetExtendedAgentCard',
};

/** Throws `method_not_found` that names the method of today, or all of them. */
export function findMethod(name: string): Method {
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (method !== undefined) return method;
  const today = Object.hasOwn(formerNames, name) ? formerNames[name] : undefined;
  const shown = JSON.stringify(name.slice(0, 64));
  throw new CodedError('method_not_found', {
    message:
      today === undefined
        ? `There is no method ${shown}. There are ${Object.keys(methods).join(', ')}.`
        : `${shown} is a method of A2A 0.3. In 1.0 it is "${today}".`,
  });
}

export function unknownTenant(): CodedError {
  return fieldError('tenant', 'names no agent of this server');
}

function value(json: Json | LargeAnswer): MethodResult {
  return { kind: 'value', json };
}
