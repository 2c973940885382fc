import {
  AgentCard,
  Message as SdkMessage,
  Task as SdkTask,
  SendMessageRequest,
  SendMessageResponse,
  StreamResponse,
} from '@a2a-js/sdk';
import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { instant } from '../../src/base/clock.ts';
import type { Json } from '../../src/base/json.ts';
import type { Artifact } from '../../src/model/artifact.ts';
import type { StoredEvent } from '../../src/model/event.ts';
import type { ContextId, TaskId, ThreadId } from '../../src/model/ids.ts';
import type { Message, Part } from '../../src/model/message.ts';
import { TASK_STATE_NUMBERS, type TaskState } from '../../src/model/task.ts';
import { buildAgentCard } from '../../src/protocol/v1/card.ts';
import { encodeSendMessageRequest } from '../../src/protocol/v1/client-codec.ts';
import { decodeSendMessageRequest } from '../../src/protocol/v1/decode.ts';
import {
  encodeMessage,
  encodeSendMessageResponse,
  encodeTask,
  type TaskSnapshot,
} from '../../src/protocol/v1/encode.ts';
import { encodeStreamEvent } from '../../src/protocol/v1/events.ts';
import { a2aMessage } from '../support/a2a-descriptor.ts';

const RUNS = 300;
const words = fc.string({ unit: 'grapheme', maxLength: 10 });
const name = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 10 });
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as never);
const struct = fc.dictionary(name, json, { maxKeys: 3, noNullPrototype: true });
const common = fc.record({ mediaType: name, filename: name, metadata: struct }, { requiredKeys: [] });

/** The official codec cannot say null in a data part, and gives bytes back as a Buffer. */
const parts: fc.Arbitrary<readonly Part[]> = fc.array(
  fc
    .tuple(
      fc.oneof(
        words.map((text): Part => ({ kind: 'text', text })),
        fc.uint8Array({ maxLength: 20 }).map((raw): Part => ({ kind: 'raw', raw: Buffer.from(raw) })),
        fc.webUrl().map((url): Part => ({ kind: 'url', url })),
        json.filter((data) => data !== null).map((data): Part => ({ kind: 'data', data })),
      ),
      common,
    )
    .map(([content, more]): Part => ({ ...content, ...more })),
  { minLength: 1, maxLength: 3 },
);

const messages = fc.record(
  {
    messageId: name,
    role: fc.constantFrom('user', 'agent'),
    parts,
    contextId: name,
    taskId: name,
    metadata: struct,
    extensions: fc.array(name, { minLength: 1, maxLength: 2 }),
    referenceTaskIds: fc.array(name, { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: ['messageId', 'role', 'parts'] },
) as fc.Arbitrary<never> as fc.Arbitrary<Message>;

const artifacts = fc.record({
  artifactId: name,
  origin: fc.constant('output'),
  turnNo: fc.constant(1),
  baseSeq: fc.constant(3),
  header: fc.record({ name, description: name, metadata: struct, extensions: fc.array(name) }, { requiredKeys: [] }),
  parts,
}) as fc.Arbitrary<never> as fc.Arbitrary<Artifact>;

const states = fc.constantFrom(...(Object.keys(TASK_STATE_NUMBERS) as TaskState[]));
const times = fc.integer({ min: 0, max: 4_000_000_000_000 }).map(instant);
const place = { contextId: 'c1' as ContextId, taskId: 't1' as TaskId };
const row = { id: place.taskId, contextId: place.contextId, threadId: 'h1' as ThreadId };

const snapshots: fc.Arbitrary<TaskSnapshot> = fc
  .tuple(
    states,
    times,
    fc.option(messages, { nil: undefined }),
    fc.array(messages, { maxLength: 2 }),
    fc.array(artifacts, { maxLength: 2 }),
  )
  .map(([state, stateAt, statusMessage, history, made]) => ({
    task: { ...row, state, stateAt },
    content: { history, artifacts: made, ...(statusMessage === undefined ? {} : { statusMessage }) },
  }));

const events = fc.oneof(
  fc.record({ kind: fc.constant('status-changed'), state: states, message: messages, seq: fc.nat(), at: times }),
  fc.tuple(artifacts, fc.boolean(), fc.boolean(), fc.nat(), times).map(([artifact, append, lastChunk, seq, at]) => {
    const { artifactId, origin, turnNo, header } = artifact;
    return {
      kind: 'artifact-updated',
      artifactId,
      origin,
      turnNo,
      header,
      parts: artifact.parts,
      append,
      lastChunk,
      seq,
      at,
    };
  }),
  fc.record({ kind: fc.constant('artifact-discarded'), artifactId: name, seq: fc.nat(), at: times }),
) as fc.Arbitrary<never> as fc.Arbitrary<StoredEvent>;

/** What the official codec made of our JSON, written by it again, is our JSON: nothing was lost, renamed or misread. */
function expectSame(codec: { fromJSON(json: unknown): unknown; toJSON(value: never): unknown }, written: Json): void {
  const parsed = JSON.parse(JSON.stringify(written));
  expect(codec.toJSON(codec.fromJSON(parsed) as never)).toEqual(parsed);
}

/** Likewise for protobuf's own, which refuses every name and type it does not know. */
function expectProtobuf(message: string, written: Json): void {
  const parsed = JSON.parse(JSON.stringify(written)) as JsonValue;
  const again = toJson(a2aMessage(message), fromJson(a2aMessage(message), parsed)) as never;
  expect(withMilliseconds(again)).toEqual(parsed);
}

/** Protobuf leaves out the milliseconds of a whole second; A2A 1.0 §5.6.1 asks for them. */
function withMilliseconds(written: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(written), (key, value) =>
    key === 'timestamp' && typeof value === 'string' ? value.replace(/(:\d\d)Z$/, '$1.000Z') : value,
  );
}

describe('the official codec and protobuf read what we write', () => {
  test('Task and SendMessageResponse', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const task = encodeTask(snapshot, { artifacts: true });
        expectSame(SdkTask, task);
        expectProtobuf('Task', task);
        expectSame(SendMessageResponse, encodeSendMessageResponse({ task: snapshot }));
      }),
      { numRuns: RUNS },
    );
  });

  test('Message', () => {
    fc.assert(
      fc.property(messages, (message) => {
        expectSame(SdkMessage, encodeMessage(message, place));
        expectProtobuf('Message', encodeMessage(message, place));
      }),
      { numRuns: RUNS },
    );
  });

  test('StreamResponse', () => {
    fc.assert(
      fc.property(events, (event) => {
        const frame = encodeStreamEvent(event, row) ?? expect.unreachable('A2A carries it');
        expectSame(StreamResponse, frame);
        expectProtobuf('StreamResponse', frame);
      }),
      { numRuns: RUNS },
    );
  });

  test('values arrive as they were meant', () => {
    const raw = Buffer.from([0, 255, 7]);
    const message = {
      messageId: 'm1',
      role: 'agent',
      parts: [{ kind: 'raw', raw, mediaType: 'x/y' }],
    } as never as Message;
    expect(SdkMessage.fromJSON(encodeMessage(message, place))).toEqual({
      messageId: 'm1',
      contextId: 'c1',
      taskId: 't1',
      role: 2,
      parts: [{ content: { $case: 'raw', value: raw }, mediaType: 'x/y', filename: '', metadata: undefined }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    });
  });

  test('AgentCard', () => {
    const card = buildAgentCard({
      name: 'demo',
      description: 'Shows everything.',
      version: '1.2.0',
      interfaces: [{ url: 'https://agents.example/a2a/v1', binding: 'HTTP+JSON', tenant: 'demo' }],
      capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: true },
      provider: { organization: 'Example', url: 'https://example.com' },
      documentationUrl: 'https://example.com/docs',
      securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
      securityRequirements: [{ key: ['all'] }],
      skills: [{ id: 'report', description: 'Writes.', kind: 'task', tags: ['x'], inputSchema: { type: 'object' } }],
    });
    expectSame(AgentCard, card);
  });
});

describe('we read what the official codec writes', () => {
  test('SendMessageRequest', () => {
    fc.assert(
      fc.property(messages, struct, fc.nat(), (message, metadata, historyLength) => {
        const sent: Message = { ...message, role: 'user' };
        const request = {
          message: sent,
          metadata,
          configuration: { historyLength, returnImmediately: true, acceptedOutputModes: ['a/b'] },
        };
        const written = SendMessageRequest.toJSON(SendMessageRequest.fromJSON(encodeSendMessageRequest(request)));
        expect(decodeSendMessageRequest(JSON.parse(JSON.stringify(written)))).toEqual(request);
      }),
      { numRuns: RUNS },
    );
  });
});
