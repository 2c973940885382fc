import type { Json } from '../../base/json.ts';
import type { Call, Operations, TaskStream } from '../../operations/operations.ts';
import {
  decodeCancelTaskRequest,
  decodeGetExtendedAgentCardRequest,
  decodeSendMessageRequest,
  decodeSubscribeToTaskRequest,
} from '../../protocol/v1/decode.ts';
import {
  decodeCreatePushConfigRequest,
  decodeListPushConfigsRequest,
  decodePushConfigRequest,
} from '../../protocol/v1/push-requests.ts';
import {
  decodeGetTaskQuery,
  decodeListTasksQuery,
  listPushConfigsQuery,
  type PathFields,
  withPathFields,
} from '../../protocol/v1/query.ts';
import { cancelTask, getTask, listTasks, sendMessage, sendParams } from '../a2a-calls.ts';
import { type Resource, RouteTable } from '../http/route-table.ts';
import type { LargeAnswer } from '../task-answers.ts';

export type RestResult =
  | { readonly kind: 'value'; readonly json: Json | LargeAnswer }
  | { readonly kind: 'stream'; readonly stream: TaskStream; readonly historyLength?: number };

/** What a route works on. */
interface RestExchange {
  readonly operations: Operations;
  /** What stood in the path, the tenant too. */
  readonly fields: PathFields;
  readonly query: URLSearchParams;
  /** Parses the body; undefined when there is none. */
  readonly body: () => unknown;
  readonly callFor: (tenant: string | undefined) => Call;
}

export interface RestRoute {
  /** The operation's name in A2A's service. */
  readonly name: string;
  readonly summary: string;
  readonly run: (exchange: RestExchange) => Promise<RestResult>;
}

const sendRoute: RestRoute = {
  name: 'SendMessage',
  summary: 'Send a message and wait until its turn is over, or return at once.',
  async run({ operations, body, fields, callFor }) {
    const request = decodeSendMessageRequest(withPathFields(body(), fields));
    return value(await sendMessage(operations, callFor(request.tenant), request));
  },
};

const streamRoute: RestRoute = {
  name: 'SendStreamingMessage',
  summary: 'Send a message and follow its task as server-sent events.',
  async run({ operations, body, fields, callFor }) {
    const request = decodeSendMessageRequest(withPathFields(body(), fields));
    const stream = await operations.streamMessage(callFor(request.tenant), sendParams(request));
    const { historyLength } = request.configuration;
    return { kind: 'stream', stream, ...(historyLength === undefined ? {} : { historyLength }) };
  },
};

const listRoute: RestRoute = {
  name: 'ListTasks',
  summary: 'List your tasks, newest status first.',
  async run({ operations, query, fields, callFor }) {
    const request = decodeListTasksQuery(query, fields);
    return value(await listTasks(operations, callFor(request.tenant), request));
  },
};

const getRoute: RestRoute = {
  name: 'GetTask',
  summary: 'Read a task as it stands.',
  async run({ operations, query, fields, callFor }) {
    const request = decodeGetTaskQuery(query, fields);
    return value(await getTask(operations, callFor(request.tenant), request));
  },
};

const cancelRoute: RestRoute = {
  name: 'CancelTask',
  summary: 'Cancel a task; answers when it is canceled.',
  async run({ operations, body, fields, callFor }) {
    const request = decodeCancelTaskRequest(withPathFields(body(), fields));
    return value(await cancelTask(operations, callFor(request.tenant), request));
  },
};

const subscribeRoute: RestRoute = {
  name: 'SubscribeToTask',
  summary: 'Follow a task that has not ended as server-sent events.',
  async run({ operations, body, fields, callFor }) {
    const request = decodeSubscribeToTaskRequest(withPathFields(body(), fields));
    return { kind: 'stream', stream: await operations.subscribeToTask(callFor(request.tenant), { id: request.id }) };
  },
};

const createPushRoute: RestRoute = {
  name: 'CreateTaskPushNotificationConfig',
  summary: 'Ask for push notifications of a task.',
  run: ({ operations, body, fields, callFor }) =>
    operations.pushConfig(callFor(decodeCreatePushConfigRequest(withPathFields(body(), fields)).tenant)),
};

const listPushRoute: RestRoute = {
  name: 'ListTaskPushNotificationConfigs',
  summary: 'List the push notification configs of a task.',
  run: ({ operations, query, fields, callFor }) =>
    operations.pushConfig(callFor(decodeListPushConfigsRequest(listPushConfigsQuery(query, fields)).tenant)),
};

const getPushRoute: RestRoute = {
  name: 'GetTaskPushNotificationConfig',
  summary: 'Read a push notification config.',
  run: ({ operations, fields, callFor }) =>
    operations.pushConfig(callFor(decodePushConfigRequest(withPathFields(undefined, fields)).tenant)),
};

const deletePushRoute: RestRoute = {
  name: 'DeleteTaskPushNotificationConfig',
  summary: 'Delete a push notification config.',
  run: ({ operations, fields, callFor }) =>
    operations.pushConfig(callFor(decodePushConfigRequest(withPathFields(undefined, fields)).tenant)),
};

const extendedCardRoute: RestRoute = {
  name: 'GetExtendedAgentCard',
  summary: 'Read the extended agent card.',
  run: ({ operations, fields, callFor }) =>
    operations.getExtendedAgentCard(
      callFor(decodeGetExtendedAgentCardRequest(withPathFields(undefined, fields)).tenant),
    ),
};

/** A2A 1.0 §11.3. The proto has `:subscribe` as GET and the text as POST: both are taken. */
const resources: readonly Resource<RestRoute>[] = [
  { path: '/message:send', methods: { POST: sendRoute } },
  { path: '/message:stream', methods: { POST: streamRoute } },
  { path: '/tasks', methods: { GET: listRoute } },
  { path: '/tasks/{id}', methods: { GET: getRoute } },
  { path: '/tasks/{id}:cancel', methods: { POST: cancelRoute } },
  { path: '/tasks/{id}:subscribe', methods: { GET: subscribeRoute, POST: subscribeRoute } },
  { path: '/tasks/{taskId}/pushNotificationConfigs', methods: { GET: listPushRoute, POST: createPushRoute } },
  { path: '/tasks/{taskId}/pushNotificationConfigs/{id}', methods: { GET: getPushRoute, DELETE: deletePushRoute } },
  { path: '/extendedAgentCard', methods: { GET: extendedCardRoute } },
];

export const restRoutes = new RouteTable(resources);

function value(json: Json | LargeAnswer): RestResult {
  return { kind: 'value', json };
}
