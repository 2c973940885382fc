import type { Json } from '../base/json.ts';
import type { Call, Operations, SendParams } from '../operations/operations.ts';
import type { CancelTaskRequest, GetTaskRequest, ListTasksRequest, SendMessageRequest } from '../protocol/v1/decode.ts';
import { encodeListTasksResponse, encodeSendMessageResponse, encodeTask } from '../protocol/v1/encode.ts';
import { messageResponse } from './a2a-frames.ts';

/*
 * The unary methods of A2A as JSON-RPC and HTTP+JSON share them: a decoded request in, the JSON of the response out.
 */

export function sendParams(request: SendMessageRequest): SendParams {
  const { message, metadata, configuration } = request;
  const { historyLength } = configuration;
  return {
    message,
    returnImmediately: configuration.returnImmediately,
    acceptedOutputModes: configuration.acceptedOutputModes,
    wantsPush: configuration.pushConfig !== undefined,
    ...(metadata === undefined ? {} : { metadata }),
    ...(historyLength === undefined ? {} : { historyLength }),
  };
}

export async function sendMessage(operations: Operations, call: Call, request: SendMessageRequest): Promise<Json> {
  const result = await operations.sendMessage(call, sendParams(request));
  if (result.kind === 'message') return messageResponse(result.message);
  const { historyLength } = request.configuration;
  return encodeSendMessageResponse({
    task: result.snapshot,
    ...(historyLength === undefined ? {} : { historyLength }),
  });
}

export async function getTask(operations: Operations, call: Call, request: GetTaskRequest): Promise<Json> {
  const { id, historyLength } = request;
  const limit = historyLength === undefined ? {} : { historyLength };
  return encodeTask(await operations.getTask(call, { id, ...limit }), { artifacts: true, ...limit });
}

export async function listTasks(operations: Operations, call: Call, request: ListTasksRequest): Promise<Json> {
  const { tenant, stateAtFrom, ...filters } = request;
  const list = await operations.listTasks(call, {
    ...filters,
    ...(stateAtFrom === undefined ? {} : { statusTimestampAfter: stateAtFrom }),
  });
  return encodeListTasksResponse({ ...list, tasks: list.snapshots }, { artifacts: request.includeArtifacts });
}

export async function cancelTask(operations: Operations, call: Call, request: CancelTaskRequest): Promise<Json> {
  return encodeTask(await operations.cancelTask(call, { id: request.id }), { artifacts: true });
}
