import type { JsonObject } from '../../base/json.ts';
import type { QueryParameter } from '../native/route.ts';
import { ref } from './a2a-schemas.ts';

/** Component schemas of the bodies of A2A's operations, by name. */
export const restBodies: Readonly<Record<string, string>> = {
  SendMessage: 'SendMessageRequest',
  SendStreamingMessage: 'SendMessageRequest',
  CancelTask: 'CancelTaskRequest',
  CreateTaskPushNotificationConfig: 'TaskPushNotificationConfig',
};

/** Component schemas of what they answer; the others answer an error here. */
export const restAnswers: Readonly<Record<string, string>> = {
  SendMessage: 'SendMessageResponse',
  SendStreamingMessage: 'StreamResponse',
  GetTask: 'Task',
  ListTasks: 'ListTasksResponse',
  CancelTask: 'Task',
  SubscribeToTask: 'StreamResponse',
  GetExtendedAgentCard: 'AgentCard',
};

export const restParameters: Readonly<Record<string, readonly QueryParameter[]>> = {
  GetTask: [{ name: 'historyLength', type: 'integer', description: 'The newest this many messages; all when absent.' }],
  ListTasks: [
    { name: 'contextId', type: 'string', description: 'Tasks of one context.' },
    { name: 'status', type: 'string', description: 'Such as TASK_STATE_WORKING.' },
    { name: 'pageSize', type: 'integer', description: 'From 1 to 100; 50 when absent.' },
    { name: 'pageToken', type: 'string', description: 'The nextPageToken of the page before.' },
    { name: 'historyLength', type: 'integer', description: 'The newest messages of each task; 10 when absent.' },
    { name: 'statusTimestampAfter', type: 'string', description: 'Tasks whose status is at least this new.' },
    { name: 'includeArtifacts', type: 'boolean', description: 'Whether artifacts come with their tasks.' },
  ],
};

function listOf(name: string, schema: string, more: JsonObject = {}): JsonObject {
  return { type: 'object', properties: { [name]: { type: 'array', items: ref(schema) }, ...more } };
}

const nextPageToken: JsonObject = { nextPageToken: { type: 'string' } };
const taskOrMessage: JsonObject = {
  oneOf: [
    { type: 'object', properties: { task: ref('NativeTask') }, required: ['task'] },
    { type: 'object', properties: { message: ref('Message') }, required: ['message'] },
  ],
};

/** What the native routes answer, by name. */
export const nativeAnswers: Readonly<Record<string, JsonObject>> = {
  listSessions: listOf('sessions', 'Session', nextPageToken),
  openSession: ref('Session'),
  readSession: ref('Session'),
  sendInSession: taskOrMessage,
  listTasks: listOf('tasks', 'NativeTask', nextPageToken),
  createTask: taskOrMessage,
  readTask: ref('NativeTask'),
  cancelTask: ref('NativeTask'),
  resumeTask: ref('NativeTask'),
  readEvents: listOf('events', 'Event', { headSeq: { type: 'integer' }, cursor: { type: 'string' } }),
  listRuns: listOf('runs', 'Run'),
  listArtifacts: listOf('artifacts', 'NativeArtifact'),
  readArtifact: ref('NativeArtifact'),
};
