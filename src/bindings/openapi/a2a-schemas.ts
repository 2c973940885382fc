import type { Json, JsonObject } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { ROLE_NAMES, TASK_STATE_NAMES } from '../../protocol/v1/names.ts';

/*
 * JSON Schemas of what A2A and the native API write. Requests may say more than these: unknown fields are ignored.
 */

function object(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) };
}

function list(items: Json): JsonObject {
  return { type: 'array', items };
}

export function ref(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

const text: JsonObject = { type: 'string' };
const flag: JsonObject = { type: 'boolean' };
const count: JsonObject = { type: 'integer', minimum: 0 };
const time: JsonObject = { type: 'string', format: 'date-time' };
const id: JsonObject = { type: 'string', minLength: 1, maxLength: limits.idCharsMax };
const metadata: JsonObject = { type: 'object', additionalProperties: true };
const state: JsonObject = { type: 'string', enum: TASK_STATE_NAMES.slice(1) };

const part = object({
  text,
  raw: { type: 'string', contentEncoding: 'base64' },
  url: { type: 'string', format: 'uri' },
  data: { description: 'Any JSON value.' },
  mediaType: text,
  filename: text,
  metadata,
});

const correlation = {
  taskId: id,
  sessionId: id,
  threadId: id,
  traceId: { type: 'string', pattern: '^[0-9a-f]{32}$' },
} as const;

const task = {
  id,
  contextId: id,
  status: ref('TaskStatus'),
  artifacts: list(ref('Artifact')),
  history: list(ref('Message')),
  metadata,
} as const;

const a2aSchemas: JsonObject = {
  Part: { ...part, description: 'Exactly one of text, raw, url and data.' },
  Message: object(
    {
      messageId: id,
      role: { type: 'string', enum: ROLE_NAMES.slice(1) },
      parts: { ...list(ref('Part')), minItems: 1, maxItems: limits.partsMax },
      contextId: id,
      taskId: id,
      referenceTaskIds: list(id),
      extensions: list(text),
      metadata,
    },
    ['messageId', 'role', 'parts'],
  ),
  Artifact: object(
    { artifactId: id, name: text, description: text, parts: list(ref('Part')), extensions: list(text), metadata },
    ['artifactId', 'parts'],
  ),
  TaskStatus: object({ state, message: ref('Message'), timestamp: time }, ['state']),
  Task: object(task, ['id', 'contextId', 'status']),
  SendMessageRequest: object(
    {
      tenant: text,
      message: ref('Message'),
      configuration: object({
        acceptedOutputModes: list(text),
        historyLength: count,
        returnImmediately: flag,
      }),
      metadata,
    },
    ['message'],
  ),
  SendMessageResponse: {
    oneOf: [object({ task: ref('Task') }, ['task']), object({ message: ref('Message') }, ['message'])],
  },
  StreamResponse: {
    oneOf: [
      object({ task: ref('Task') }, ['task']),
      object({ message: ref('Message') }, ['message']),
      object({ statusUpdate: ref('TaskStatusUpdateEvent') }, ['statusUpdate']),
      object({ artifactUpdate: ref('TaskArtifactUpdateEvent') }, ['artifactUpdate']),
    ],
  },
  TaskStatusUpdateEvent: object({ taskId: id, contextId: id, status: ref('TaskStatus'), metadata }, [
    'taskId',
    'contextId',
    'status',
  ]),
  TaskArtifactUpdateEvent: object(
    { taskId: id, contextId: id, artifact: ref('Artifact'), append: flag, lastChunk: flag, metadata },
    ['taskId', 'contextId', 'artifact'],
  ),
  ListTasksResponse: object({ tasks: list(ref('Task')), nextPageToken: text, pageSize: count, totalSize: count }, [
    'tasks',
    'nextPageToken',
    'pageSize',
    'totalSize',
  ]),
  CancelTaskRequest: object({ tenant: text, metadata }),
  AgentCard: { type: 'object', description: 'A2A 1.0 §4.4.1.' },
  TaskPushNotificationConfig: object({ id: text, url: text, token: text, authentication: { type: 'object' } }, ['url']),
};

const nativeSchemas: JsonObject = {
  NativeTask: object(
    {
      ...task,
      ...correlation,
      agent: text,
      createdAt: time,
      updatedAt: time,
      endedAt: time,
      cancelRequestedAt: time,
      deadline: object({ kind: text, at: time }),
      seq: count,
      cursor: text,
    },
    [
      'id',
      'contextId',
      'status',
      'taskId',
      'sessionId',
      'threadId',
      'agent',
      'createdAt',
      'updatedAt',
      'seq',
      'cursor',
    ],
  ),
  Session: object({ sessionId: id, threadId: id, agent: text, createdAt: time }, ['sessionId', 'threadId']),
  Run: object(
    {
      runId: id,
      ...correlation,
      turn: count,
      attempt: count,
      state: { type: 'string', enum: ['held', 'queued', 'leased', 'waiting', 'settled'] },
      startedAt: time,
      runnableAt: time,
      wakeAt: time,
      settledAt: time,
      outcome: text,
      reason: text,
    },
    ['runId', 'turn', 'attempt', 'state'],
  ),
  Event: {
    ...object({ seq: count, kind: text, at: time, ...correlation, runId: id }, ['seq', 'kind', 'at', 'taskId']),
    additionalProperties: true,
  },
  NativeArtifact: object(
    {
      artifactId: id,
      origin: { type: 'string', enum: ['output', 'input'] },
      turn: count,
      name: text,
      description: text,
      metadata,
      seq: count,
      isComplete: flag,
      parts: list(ref('Part')),
    },
    ['artifactId', 'origin'],
  ),
};

const errorSchema = object(
  {
    error: object({ code: { type: 'integer' }, status: text, message: text, details: list({ type: 'object' }) }, [
      'code',
      'status',
      'message',
      'details',
    ]),
  },
  ['error'],
);

export const schemas: JsonObject = { ...a2aSchemas, ...nativeSchemas, Error: errorSchema };
