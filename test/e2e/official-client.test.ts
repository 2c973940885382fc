import { randomUUID } from 'node:crypto';
import { type Message, type Part, Role, type SendMessageRequest, type StreamResponse, TaskState } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { type ServerProcess, serveArgs, startServer } from '../support/server-process.ts';

function text(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' };
}

function request(parts: readonly Part[], fields: Partial<Message> = {}): SendMessageRequest {
  const message: Message = {
    messageId: randomUUID(),
    role: Role.ROLE_USER,
    parts: [...parts],
    contextId: '',
    taskId: '',
    extensions: [],
    referenceTaskIds: [],
    metadata: undefined,
    ...fields,
  };
  return { tenant: '', message, configuration: undefined, metadata: undefined };
}

function textsOf(events: readonly StreamResponse[]): readonly string[] {
  return events.flatMap((event) =>
    event.payload?.$case === 'artifactUpdate'
      ? (event.payload.value.artifact?.parts ?? []).flatMap((part) =>
          part.content?.$case === 'text' ? [part.content.value] : [],
        )
      : [],
  );
}

const transports = {
  JSONRPC: () => new JsonRpcTransportFactory(),
  'HTTP+JSON': () => new RestTransportFactory(),
} as const;

describe.each(['JSONRPC', 'HTTP+JSON'] as const)(
  `the official client over %s ${verifies('bindings.equal', 'card.well-known', 'card.interfaces')}`,
  (name) => {
    let server: ServerProcess;
    let client: Client;
    beforeAll(async () => {
      server = await startServer({ args: serveArgs('agents/tck.ts', 'agents/bench.ts', '--store', 'memory') });
      const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
        transports: [transports[name]()],
        preferredTransports: [name],
      });
      client = await new ClientFactory(options).createFromUrl(server.url);
    }, 30_000);
    afterAll(() => server.kill());

    const taskOf = async (sent: SendMessageRequest) => {
      const answer = await client.sendMessage(sent);
      if (!('status' in answer)) throw new Error('not a task');
      return answer;
    };

    test('sends, gets, lists', async () => {
      const task = await taskOf(request([text('x')], { messageId: `tck-artifact-text-${randomUUID()}` }));
      expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
      expect(task.artifacts[0]?.parts[0]?.content).toEqual({ $case: 'text', value: 'Generated text content' });
      const got = await client.getTask({ tenant: '', id: task.id, historyLength: undefined });
      expect(got).toEqual(task);
      const list = await client.listTasks({
        tenant: '',
        contextId: task.contextId,
        status: TaskState.TASK_STATE_UNSPECIFIED,
        pageSize: 10,
        pageToken: '',
        historyLength: 0,
        statusTimestampAfter: undefined,
        includeArtifacts: true,
      });
      expect(list.tasks.map((item) => item.id)).toEqual([task.id]);
    });

    test('gets a message from a reply', async () => {
      const answer = await client.sendMessage(
        request([text('x')], { messageId: `tck-message-response-${randomUUID()}` }),
      );
      expect('parts' in answer && answer.parts[0]?.content).toEqual({
        $case: 'text',
        value: 'Direct message response',
      });
    });

    test('streams, in order, to the end', async () => {
      const events: StreamResponse[] = [];
      for await (const event of client.sendMessageStream(
        request([text('x')], { messageId: `tck-stream-artifact-chunked-${randomUUID()}` }),
      ))
        events.push(event);
      expect(events[0]?.payload?.$case).toBe('task');
      expect(textsOf(events)).toEqual(['chunk-1 ', 'chunk-2']);
      const last = events.at(-1)?.payload;
      expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    });

    test('answers a question, cancels, and subscribes again', async () => {
      const asked = await taskOf(request([text('x')], { messageId: `tck-input-required-${randomUUID()}` }));
      expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
      const done = await taskOf(
        request([text('y')], {
          messageId: `tck-complete-task-${randomUUID()}`,
          taskId: asked.id,
          contextId: asked.contextId,
        }),
      );
      expect(done.id).toBe(asked.id);
      expect(done.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
      const waiting = await taskOf(request([text('x')], { messageId: `tck-input-required-${randomUUID()}` }));
      const watching = (async () => {
        const states: unknown[] = [];
        for await (const event of client.resubscribeTask({ tenant: '', id: waiting.id })) {
          states.push(
            event.payload?.$case === 'statusUpdate' ? event.payload.value.status?.state : event.payload?.$case,
          );
          if (states.length === 1) await client.cancelTask({ tenant: '', id: waiting.id, metadata: undefined });
        }
        return states;
      })();
      expect(await watching).toEqual(['task', TaskState.TASK_STATE_CANCELED]);
    });

    test('reads our errors as its own', async () => {
      await expect(client.getTask({ tenant: '', id: 'nope', historyLength: undefined })).rejects.toMatchObject({
        name: 'TaskNotFoundError',
      });
      const done = await taskOf(request([text('x')], { messageId: `tck-complete-task-${randomUUID()}` }));
      await expect(client.cancelTask({ tenant: '', id: done.id, metadata: undefined })).rejects.toMatchObject({
        name: 'TaskNotCancelableError',
      });
    });
  },
);
