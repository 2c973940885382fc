import { parseId, type TaskId } from '../../model/ids.ts';
import type { SendParams, TaskShown } from '../../operations/operations.ts';
import { decodeListTasksQuery } from '../../protocol/v1/query.ts';
import { messageResponse } from '../a2a-frames.ts';
import { readJson } from '../http/body.ts';
import type { HttpResponse } from '../http/exchange.ts';
import { streamResponse } from '../http/sse.ts';
import { listAnswer, taskAnswer, underTask } from '../task-answers.ts';
import { answer, answerTasks, nativeForm, readQuery, wantsEvents } from './answers.ts';
import { messageBody, nativeSend, readBody } from './bodies.ts';
import { messageFrames } from './frames.ts';
import type { NativeExchange, NativeRoute } from './route.ts';

export const listTasksRoute: NativeRoute = {
  name: 'listTasks',
  summary: 'Your tasks, newest status first.',
  query: [
    { name: 'sessionId', type: 'string', description: 'Tasks of one session; contextId is the same.' },
    { name: 'state', type: 'string', description: 'Such as TASK_STATE_WORKING; status is the same.' },
    { name: 'statusTimestampAfter', type: 'string', description: 'Tasks whose status is at least this new.' },
    { name: 'pageSize', type: 'integer', description: 'From 1 to 100; 50 when absent.' },
    { name: 'pageToken', type: 'string', description: 'The nextPageToken of the page before.' },
    { name: 'historyLength', type: 'integer', description: 'The newest messages of each task; 10 when absent.' },
    { name: 'includeArtifacts', type: 'boolean', description: 'Whether artifacts come with their tasks.' },
  ],
  async run({ parts, request, call }) {
    const { tenant, stateAtFrom, ...filters } = decodeListTasksQuery(a2aNames(request.query));
    const list = await parts.operations.listTasks(call, {
      ...filters,
      ...(stateAtFrom === undefined ? {} : { statusTimestampAfter: stateAtFrom }),
    });
    const { snapshots, nextPageToken, pageSize, totalSize } = list;
    const rest = { nextPageToken, pageSize, totalSize };
    return await answerTasks(parts, listAnswer(snapshots, nativeForm(parts), rest));
  },
};

export const createTaskRoute: NativeRoute = {
  name: 'createTask',
  summary: 'Send a message and wait for its turn, or follow it with Accept: text/event-stream.',
  body: messageBody,
  streams: true,
  async run(exchange) {
    const { parts, request, call } = exchange;
    const params = nativeSend(readBody(messageBody, readJson(request)), { newId: parts.newId });
    if (!wantsEvents(request)) return await sendAnswer(exchange, params);
    const stream = await parts.operations.streamMessage(call, params);
    return streamResponse(await messageFrames(parts, stream, request.signal), { clock: parts.clock });
  },
};

export const readTaskRoute: NativeRoute = {
  name: 'readTask',
  summary: 'A task as it stands.',
  query: [
    { name: 'historyLength', type: 'integer', description: 'The newest this many messages; all when absent.' },
    { name: 'historyAfter', type: 'string', description: 'Only messages after the one with this messageId.' },
  ],
  async run(exchange) {
    const { parts, request, call } = exchange;
    const query = readQuery(request, (reader) => {
      const historyLength = reader.int32('historyLength', { min: 0 });
      const historyAfter = reader.string('historyAfter');
      return {
        ...(historyLength === undefined ? {} : { historyLength }),
        ...(historyAfter === undefined ? {} : { historyAfter }),
      };
    });
    return await taskResponse(parts, await parts.operations.readTask(call, { id: taskIdOf(exchange), ...query }));
  },
};

export const cancelTaskRoute: NativeRoute = {
  name: 'cancelTask',
  summary: 'Cancel a task; answers when it is canceled.',
  async run(exchange) {
    const { parts, call } = exchange;
    return await taskResponse(parts, await parts.operations.cancelTask(call, { id: taskIdOf(exchange) }));
  },
};

export const resumeTaskRoute: NativeRoute = {
  name: 'resumeTask',
  summary: 'Clear AUTH_REQUIRED without a message.',
  async run(exchange) {
    const { parts, call } = exchange;
    return await taskResponse(parts, await parts.operations.resumeTask(call, { id: taskIdOf(exchange) }));
  },
};

/** The task of a message, or the message of a reply. */
export async function sendAnswer({ parts, call }: NativeExchange, params: SendParams): Promise<HttpResponse> {
  const result = await parts.operations.sendMessage(call, params);
  if (result.kind === 'message') return answer(messageResponse(result.message));
  return await answerTasks(parts, underTask(result.snapshot, nativeForm(parts)));
}

export function taskIdOf({ fields }: Pick<NativeExchange, 'fields'>): TaskId {
  return parseId<TaskId>(fields.taskId ?? '', 'taskId');
}

function taskResponse(parts: NativeExchange['parts'], shown: TaskShown): Promise<HttpResponse> {
  return answerTasks(parts, taskAnswer(shown, nativeForm(parts)));
}

/** The same parameters by the names that A2A gives them. */
function a2aNames(query: URLSearchParams): URLSearchParams {
  const names: Readonly<Record<string, string>> = { sessionId: 'contextId', state: 'status' };
  return new URLSearchParams([...query].map(([name, value]): [string, string] => [names[name] ?? name, value]));
}
