import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { TASK_STATE_NUMBERS, type TaskState } from '../model/task.ts';
import { decodeListTasksResponse, decodeTask } from '../protocol/v1/client-codec.ts';
import { taskStateName } from '../protocol/v1/names.ts';
import { type AgentSession, command, openAgent, timeoutError } from './agent-session.ts';
import { usageError } from './cli-error.ts';
import { type ClientOptions, countOf, type Flags } from './client-options.ts';
import { followFrames } from './follow.ts';
import type { Io } from './io.ts';
import { Progress } from './progress.ts';
import { field, renderTask, renderTaskLine } from './render-text.ts';
import { Reporter, styleOf } from './reporter.ts';

export interface TaskOrder {
  readonly options: ClientOptions;
  readonly flags: Flags;
  readonly taskId: string;
}

/** `task get`: one look, or with `--wait` one after another until the task has ended or needs the caller. */
export async function getTask(io: Io, { options, flags, taskId }: TaskOrder): Promise<void> {
  const agent = await openAgent(io, options);
  const history = countOf('history', flags.history);
  const params = { id: taskId, ...(history === undefined ? {} : { historyLength: history }) };
  await reportingTimeout(agent, options, taskId, async () => {
    if (options.wait) await waiting(io, agent, options, taskId);
    new Reporter(io, options).task(await agent.client.call('GetTask', params, agent.signal));
  });
}

async function waiting(io: Io, agent: AgentSession, options: ClientOptions, taskId: string): Promise<void> {
  const progress = new Progress(io, `Waiting for task ${taskId}`);
  try {
    await agent.client.waitForTask(taskId, { pollMs: options.pollMs, signal: agent.signal });
  } finally {
    await progress.stop();
  }
}

async function reportingTimeout(
  agent: AgentSession,
  options: ClientOptions,
  taskId: string,
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    throw timeoutError(agent.signal, options, taskId) ?? error;
  }
}

export async function cancelTask(io: Io, { options, taskId }: TaskOrder): Promise<void> {
  const agent = await openAgent(io, options);
  const progress = new Progress(io, `Canceling task ${taskId}`);
  try {
    const task = await agent.client.call('CancelTask', { id: taskId }, agent.signal);
    await progress.stop();
    const reporter = new Reporter(io, options);
    reporter.document(task, () => renderTask(decodeTask(task), { verbose: options.verbose, resume: () => '' }));
  } catch (error) {
    throw timeoutError(agent.signal, options, taskId) ?? error;
  } finally {
    await progress.stop();
  }
}

/** `task subscribe`: the live stream with `--stream`; otherwise the task as it stands in the end. */
export async function subscribe(io: Io, { options, taskId }: TaskOrder): Promise<void> {
  const agent = await openAgent(io, options);
  const { client, signal } = agent;
  const reporter = new Reporter(io, options);
  const frames = client.stream('SubscribeToTask', { id: taskId }, signal);
  await reportingTimeout(agent, options, taskId, async () => {
    if (options.stream || !reporter.isJson) {
      await followFrames(frames, reporter, () => {});
      return;
    }
    const progress = new Progress(io, `Following task ${taskId}`);
    try {
      for await (const _ of frames);
    } finally {
      await progress.stop();
    }
    reporter.task(await client.call('GetTask', { id: taskId }, signal));
  });
}

/** `task list`: one page, newest first, a line a task; with `--verbose` each task whole. */
export async function listTasks(io: Io, { options, flags }: Omit<TaskOrder, 'taskId'>): Promise<void> {
  const params = listParams(options, flags);
  const agent = await openAgent(io, options);
  const json = await agent.client.call('ListTasks', params, agent.signal);
  const reporter = new Reporter(io, options);
  if (options.stream && reporter.isJson) {
    const tasks = isJsonObject(json) && Array.isArray(json.tasks) ? (json.tasks as readonly Json[]) : [];
    for (const task of tasks) io.out(`${JSON.stringify(task)}\n`);
    return;
  }
  reporter.document(json, () => renderList(json, options));
}

function listParams(options: ClientOptions, flags: Flags): JsonObject {
  const pageSize = countOf('page-size', flags.pageSize);
  const historyLength = countOf('history', flags.history);
  return {
    ...(options.contextId === undefined ? {} : { contextId: options.contextId }),
    ...(flags.state === undefined ? {} : { status: taskStateName(stateOf(String(flags.state))) }),
    ...(pageSize === undefined ? {} : { pageSize }),
    ...(flags.pageToken === undefined ? {} : { pageToken: String(flags.pageToken) }),
    ...(flags.since === undefined ? {} : { statusTimestampAfter: String(flags.since) }),
    ...(historyLength === undefined ? {} : { historyLength }),
    ...(flags.artifacts === true ? { includeArtifacts: true } : {}),
  };
}

/** `completed`, `COMPLETED`, `TASK_STATE_COMPLETED`. */
export function stateOf(text: string): TaskState {
  const word = text
    .toLowerCase()
    .replace(/^task_state_/, '')
    .replaceAll('_', '-');
  if (Object.hasOwn(TASK_STATE_NUMBERS, word)) return word as TaskState;
  throw usageError(`--state is one of ${Object.keys(TASK_STATE_NUMBERS).join(', ')}, not "${text}".`);
}

function renderList(json: Json, options: ClientOptions): string {
  const { tasks, nextPageToken, totalSize } = decodeListTasksResponse(json);
  const style = styleOf(options);
  const each = tasks.map((task) => (options.verbose ? `${renderTask(task, style)}\n` : renderTaskLine(task))).join('');
  const more =
    nextPageToken === '' ? '' : field('Next page', command(options, `task list --page-token ${nextPageToken}`));
  return `${each}${field('Total', String(totalSize))}${more}`;
}
