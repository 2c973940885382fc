import type { Json } from '../base/json.ts';
import type { Call, Operations, SendParams } from '../operations/operations.ts';
import type { CancelTaskRequest, GetTaskRequest, ListTasksRequest, SendMessageRequest } from '../protocol/v1/decode.ts';
import { messageResponse } from './a2a-frames.ts';
import { a2aForm, type LargeAnswer, listAnswer, listedForm, taskAnswer, underTask } from './task-answers.ts';

/*
 * The unary methods of A2A as JSON-RPC and HTTP+JSON share them: a decoded request in, the JSON of the response out, or
 * how to write it where that is much.
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

type Answer = Json | LargeAnswer;

export async function sendMessage(operations: Operations, call: Call, request: SendMessageRequest): Promise<Answer> {
  const result = await operations.sendMessage(call, sendParams(request));
  if (result.kind === 'message') return messageResponse(result.message);
  return underTask(result.snapshot, a2aForm(request.configuration.historyLength));
}

export async function getTask(operations: Operations, call: Call, request: GetTaskRequest): Promise<Answer> {
  const { id, historyLength } = request;
  const shown = await operations.getTask(call, { id, ...(historyLength === undefined ? {} : { historyLength }) });
  return taskAnswer(shown, a2aForm(historyLength));
}

export async function listTasks(operations: Operations, call: Call, request: ListTasksRequest): Promise<Answer> {
  const { tenant, stateAtFrom, ...filters } = request;
  const { snapshots, nextPageToken, pageSize, totalSize } = await operations.listTasks(call, {
    ...filters,
    ...(stateAtFrom === undefined ? {} : { statusTimestampAfter: stateAtFrom }),
  });
  return listAnswer(snapshots, listedForm(request.includeArtifacts), { nextPageToken, pageSize, totalSize });
}

export async function cancelTask(operations: Operations, call: Call, request: CancelTaskRequest): Promise<Answer> {
  return taskAnswer(await operations.cancelTask(call, { id: request.id }), a2aForm(undefined));
}
