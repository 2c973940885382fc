import type { Json, JsonObject } from '../base/json.ts';
import { isSettled } from '../client/agent-client.ts';
import type { ContextId, MessageId, TaskId } from '../model/ids.ts';
import type { Message, Part } from '../model/message.ts';
import { decodeStreamResponse, encodeSendMessageRequest } from '../protocol/v1/client-codec.ts';
import { type AgentSession, command, openAgent, timeoutError } from './agent-session.ts';
import type { ClientOptions } from './client-options.ts';
import { followFrames } from './follow.ts';
import type { Io } from './io.ts';
import { Progress } from './progress.ts';
import { Reporter } from './reporter.ts';
import { type PartFlag, readParts } from './send-parts.ts';

export interface SendOrder {
  readonly options: ClientOptions;
  readonly text: string | undefined;
  readonly partFlags: readonly PartFlag[];
  /** A message id of the caller's own, so that a repeat is known as one. */
  readonly messageId: string | undefined;
}

/** `send`: begins or continues an interaction, and waits, follows, or returns at once. */
export async function send(io: Io, order: SendOrder): Promise<void> {
  const { options } = order;
  const parts = await readParts(io, order.text, order.partFlags);
  const agent = await openAgent(io, options);
  const message = messageOf(agent, order, parts);
  const reporter = new Reporter(io, options);
  const seen: Seen = { taskId: options.taskId };
  try {
    if (options.isAsync) reporter.sendResponse(await post(agent, message));
    else if (options.stream && agent.card.card.capabilities.streaming)
      await stream(agent, { options, message, reporter, seen });
    else await waitForOutcome(io, agent, { options, message, reporter, seen });
  } catch (error) {
    if (agent.signal.aborted && seen.taskId !== undefined && !reporter.isJson) {
      reporter.note(`Task ID: ${seen.taskId}\n${command(options, `task get --wait ${seen.taskId}`)}`);
    }
    throw timeoutError(agent.signal, options, seen.taskId) ?? error;
  }
}

/** What is known of the task when a wait is broken off. */
interface Seen {
  taskId: string | undefined;
}

interface Sending {
  readonly options: ClientOptions;
  readonly message: Message;
  readonly reporter: Reporter;
  readonly seen: Seen;
}

function messageOf(agent: AgentSession, { options, messageId }: SendOrder, parts: readonly Part[]): Message {
  const { contextId, taskId, metadata, skill } = options;
  const all: JsonObject = { ...metadata, ...(skill === undefined ? {} : { skillId: skill }) };
  return {
    messageId: (messageId ?? agent.newId()) as MessageId,
    role: 'user',
    parts,
    ...(contextId === undefined ? {} : { contextId: contextId as ContextId }),
    ...(taskId === undefined ? {} : { taskId: taskId as TaskId }),
    ...(Object.keys(all).length === 0 ? {} : { metadata: all }),
  };
}

function post(agent: AgentSession, message: Message): Promise<Json> {
  const params = encodeSendMessageRequest({ message, configuration: { returnImmediately: true } });
  return agent.client.call('SendMessage', params, agent.signal);
}

async function stream(agent: AgentSession, { message, reporter, seen }: Sending): Promise<void> {
  const frames = agent.client.stream('SendStreamingMessage', encodeSendMessageRequest({ message }), agent.signal);
  await followFrames(frames, reporter, (taskId) => {
    seen.taskId = taskId;
  });
}

/**
 * Waits for the end or for the caller's turn and reports the one outcome. It listens to the stream where the agent has
 * one, and asks again and again where it has none; `--stream` with such an agent still gets one line of JSON.
 */
async function waitForOutcome(io: Io, agent: AgentSession, sending: Sending): Promise<void> {
  const { options, reporter } = sending;
  const progress = new Progress(io, `Waiting for ${agent.card.card.name}`);
  let outcome: Json;
  try {
    outcome = agent.card.card.capabilities.streaming
      ? await outcomeOfStream(agent, sending, progress)
      : await outcomeOfPolling(agent, sending);
  } finally {
    await progress.stop();
  }
  if (options.stream && !agent.card.card.capabilities.streaming)
    reporter.note('The agent does not stream; this is the outcome.');
  reporter.sendResponse(outcome);
}

async function outcomeOfStream(agent: AgentSession, { message, seen }: Sending, progress: Progress): Promise<Json> {
  const { client, signal } = agent;
  for await (const { json } of client.stream('SendStreamingMessage', encodeSendMessageRequest({ message }), signal)) {
    const item = decodeStreamResponse(json);
    if (item.kind === 'message') return json;
    if (item.kind === 'task') seen.taskId = item.task.id;
    const status = item.kind === 'task' ? item.task.status : item.kind === 'status' ? item.status : undefined;
    const words = status?.message?.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join(' ');
    if (words !== undefined && words !== '') progress.label = words;
  }
  return { task: await client.call('GetTask', { id: seen.taskId ?? '' }, signal) };
}

async function outcomeOfPolling(agent: AgentSession, { options, message, seen }: Sending): Promise<Json> {
  const { client, signal } = agent;
  const first = await post(agent, message);
  const item = decodeStreamResponse(first);
  if (item.kind !== 'task') return first;
  seen.taskId = item.task.id;
  if (isSettled(item.task.status.state)) return first;
  return { task: await client.waitForTask(item.task.id, { pollMs: options.pollMs, signal }) };
}
