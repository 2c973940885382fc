import { systemClock } from '../base/clock.ts';
import type { Json } from '../base/json.ts';
import { systemRandom } from '../base/random.ts';
import { createIdSource } from '../base/unique-id.ts';
import { AgentClient } from '../client/agent-client.ts';
import { openTransport } from '../client/connect.ts';
import type { ContextId, MessageId, TaskId } from '../model/ids.ts';
import type { Message, Part } from '../model/message.ts';
import {
  decodeStreamResponse,
  decodeTask,
  encodeSendMessageRequest,
  type RemoteTask,
  type StreamItem,
} from '../protocol/v1/client-codec.ts';

interface Utterance {
  readonly text?: string;
  readonly data?: Json;
  readonly parts?: readonly Part[];
  readonly skill?: string;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly messageId?: string;
}

/** A conversation with one agent of a running server, over one binding. */
export interface AgentTalk {
  /** Waits for the outcome. */
  send(said: Utterance): Promise<StreamItem>;
  /** As `send`, of a message that must have become a task. */
  task(said: Utterance): Promise<RemoteTask>;
  /** As `send`, of a message that must have been answered by one. */
  reply(said: Utterance): Promise<Message>;
  /** Every frame until the task has ended or waits. */
  stream(said: Utterance): Promise<readonly StreamItem[]>;
  get(taskId: string): Promise<RemoteTask>;
}

const FACES = { jsonrpc: ['JSONRPC', '/a2a/jsonrpc'], rest: ['HTTP+JSON', '/a2a/v1'] } as const;

export function talkTo(
  url: string,
  options: { readonly binding?: keyof typeof FACES; readonly agent?: string } = {},
): AgentTalk {
  const [binding, path] = FACES[options.binding ?? 'jsonrpc'];
  const settings = { fetch, clock: systemClock, headers: { 'a2a-version': '1.0' }, query: {} };
  const tenant = options.agent === undefined ? {} : { tenant: options.agent };
  const transport = openTransport(settings, { url: url + path, binding, protocolVersion: '1.0', ...tenant });
  const client = new AgentClient({ transport, clock: systemClock });
  const newId = createIdSource({ clock: systemClock, random: systemRandom, pool: 100 });
  const { signal } = new AbortController();
  const request = (said: Utterance) => encodeSendMessageRequest({ message: messageOf(said, newId()) });
  const send = async (said: Utterance) => decodeStreamResponse(await client.call('SendMessage', request(said), signal));
  return {
    send,
    async task(said) {
      const item = await send(said);
      if (item.kind !== 'task') throw new Error(`it was answered by a ${item.kind}`);
      return item.task;
    },
    async reply(said) {
      const item = await send(said);
      if (item.kind !== 'message') throw new Error(`it was answered by a ${item.kind}`);
      return item.message;
    },
    async stream(said) {
      const items: StreamItem[] = [];
      for await (const { json } of client.stream('SendStreamingMessage', request(said), signal)) {
        items.push(decodeStreamResponse(json));
      }
      return items;
    },
    get: async (id) => decodeTask(await client.call('GetTask', { id }, signal)),
  };
}

function messageOf(said: Utterance, newId: string): Message {
  const { text, data, parts = [], skill, taskId, contextId, messageId = newId } = said;
  return {
    messageId: messageId as MessageId,
    role: 'user',
    parts: [
      ...(text === undefined ? [] : [{ kind: 'text' as const, text }]),
      ...(data === undefined ? [] : [{ kind: 'data' as const, data }]),
      ...parts,
    ],
    ...(taskId === undefined ? {} : { taskId: taskId as TaskId }),
    ...(contextId === undefined ? {} : { contextId: contextId as ContextId }),
    ...(skill === undefined ? {} : { metadata: { skillId: skill } }),
  };
}
