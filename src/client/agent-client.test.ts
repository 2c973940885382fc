import { describe, expect, test } from 'vitest';
import { type Clock, instant } from '../base/clock.ts';
import type { Json, JsonObject } from '../base/json.ts';
import { AgentClient } from './agent-client.ts';
import { ClientError } from './client-error.ts';
import type { Frame, Operation, StreamOptions, Transport } from './transport.ts';

type Script = readonly (ClientError | Json | readonly (Frame | ClientError)[])[];

/** A transport that answers from a list, a clock whose sleeps are over at once, and what both were asked. */
function scripted(script: Script) {
  const answers = [...script];
  const asked: { readonly operation: Operation; readonly params: JsonObject; readonly options?: StreamOptions }[] = [];
  const slept: number[] = [];
  const next = (operation: Operation, params: JsonObject, options?: StreamOptions) => {
    asked.push({ operation, params, ...(options === undefined ? {} : { options }) });
    const answer = answers.shift();
    if (answer instanceof ClientError) throw answer;
    return answer;
  };
  async function* frames(list: readonly (Frame | ClientError)[]): AsyncGenerator<Frame> {
    for (const frame of list) {
      if (frame instanceof ClientError) throw frame;
      yield frame;
    }
  }
  const transport: Transport = {
    binding: 'JSONRPC',
    call: async (operation, params) => next(operation, params) as Json,
    stream: async (operation, params, options) =>
      frames(next(operation, params, options) as unknown as readonly (Frame | ClientError)[]),
  };
  const clock: Clock = {
    now: () => instant(0),
    monotonicMs: () => 0,
    sleep: async (ms, signal) => {
      signal.throwIfAborted();
      slept.push(ms);
    },
  };
  return { client: new AgentClient({ transport, clock }), asked, slept };
}

const signal = new AbortController().signal;
const task = (state: string): Json => ({ id: 't1', contextId: 'c1', status: { state: `TASK_STATE_${state}` } });
const status = (state: string): Json => ({
  statusUpdate: { taskId: 't1', contextId: 'c1', status: { state: `TASK_STATE_${state}` } },
});
const lost = new ClientError('lost', 'The stream broke off.');
const away = new ClientError('unreachable', 'Nobody is there.');

async function collect(frames: AsyncIterable<Frame>): Promise<readonly Json[]> {
  const seen: Json[] = [];
  for await (const frame of frames) seen.push(frame.json);
  return seen;
}

describe('a stream', () => {
  test.each(['COMPLETED', 'FAILED', 'INPUT_REQUIRED', 'AUTH_REQUIRED'])('is over at %s', async (state) => {
    const { client, asked } = scripted([
      [{ json: { task: task('WORKING') } }, { json: status(state) }, { json: status('WORKING') }],
    ]);
    const seen = await collect(client.stream('SendStreamingMessage', {}, signal));
    expect(seen).toEqual([{ task: task('WORKING') }, status(state)]);
    expect(asked.length).toBe(1);
  });

  test('of a reply is its one message', async () => {
    const { client } = scripted([[{ json: { message: { messageId: 'm1', parts: [] } } }]]);
    expect(await collect(client.stream('SendStreamingMessage', {}, signal))).toHaveLength(1);
  });

  test('that breaks off is taken up behind its last frame, while the server is away too', async () => {
    const { client, asked, slept } = scripted([
      [{ json: { task: task('WORKING') }, id: 'x-1' }, { json: status('WORKING'), id: 'x-2' }, lost],
      away,
      away,
      [
        { json: { task: task('WORKING') }, id: 'x-2' },
        { json: status('COMPLETED'), id: 'x-3' },
      ],
    ]);
    const seen = await collect(client.stream('SendStreamingMessage', {}, signal));
    expect(seen.at(-1)).toEqual(status('COMPLETED'));
    expect(asked.slice(1).map(({ operation, params, options }) => [operation, params, options?.lastEventId])).toEqual([
      ['SubscribeToTask', { id: 't1' }, 'x-2'],
      ['SubscribeToTask', { id: 't1' }, 'x-2'],
      ['SubscribeToTask', { id: 't1' }, 'x-2'],
    ]);
    expect(slept).toEqual([250, 500, 1_000]);
  });

  test('that ends bare before its task did is taken up too; a task that has ended meanwhile is read', async () => {
    const { client } = scripted([
      [{ json: { task: task('WORKING') } }],
      new ClientError('protocol', 'ended', { a2aName: 'UnsupportedOperationError' }),
      task('COMPLETED'),
    ]);
    const seen = await collect(client.stream('SendStreamingMessage', {}, signal));
    expect(seen.at(-1)).toEqual({ task: task('COMPLETED') });
  });

  test('that breaks off before its task is known is lost: the message is not sent twice', async () => {
    const { client, asked } = scripted([[lost]]);
    await expect(collect(client.stream('SendStreamingMessage', {}, signal))).rejects.toBe(lost);
    expect(asked.length).toBe(1);
  });

  test('that ends again and again without a frame is given up', async () => {
    const { client } = scripted([[{ json: { task: task('WORKING') } }], ...Array.from({ length: 40 }, () => [])]);
    await expect(collect(client.stream('SendStreamingMessage', {}, signal))).rejects.toMatchObject({ kind: 'lost' });
  });

  test('whose task is gone ends with that error', async () => {
    const gone = new ClientError('protocol', 'gone', { a2aName: 'TaskNotFoundError' });
    const { client } = scripted([[{ json: { task: task('WORKING') } }, lost], gone]);
    await expect(collect(client.stream('SendStreamingMessage', {}, signal))).rejects.toBe(gone);
  });
});

describe('a call', () => {
  test('is repeated when the server is busy, after the time it names', async () => {
    const busy = new ClientError('busy', 'Later.', { retryAfterSeconds: 7 });
    const { client, slept } = scripted([busy, busy, task('WORKING')]);
    expect(await client.call('GetTask', { id: 't1' }, signal)).toEqual(task('WORKING'));
    expect(slept).toEqual([7_000, 7_000]);
  });

  test('gives up on a server that stays busy, and at once on any other error', async () => {
    const busy = new ClientError('busy', 'Later.');
    await expect(scripted([busy, busy, busy]).client.call('GetTask', {}, signal)).rejects.toBe(busy);
    await expect(scripted([away, task('WORKING')]).client.call('GetTask', {}, signal)).rejects.toBe(away);
  });
});

describe('a wait', () => {
  test('polls until the task has ended or it is the turn of the caller, slower and slower', async () => {
    const { client, slept } = scripted([
      task('SUBMITTED'),
      task('WORKING'),
      task('UNSPECIFIED'),
      task('INPUT_REQUIRED'),
    ]);
    expect(await client.waitForTask('t1', { pollMs: 1_000, signal })).toEqual(task('INPUT_REQUIRED'));
    expect(slept).toEqual([1_000, 1_250, 1_562.5]);
  });

  test('outlives a server that restarts, and ends with an error of the task', async () => {
    const { client } = scripted([task('WORKING'), away, lost, task('COMPLETED')]);
    expect(await client.waitForTask('t1', { pollMs: 1, signal })).toEqual(task('COMPLETED'));
    const gone = new ClientError('protocol', 'gone', { a2aName: 'TaskNotFoundError' });
    await expect(scripted([gone]).client.waitForTask('t1', { pollMs: 1, signal })).rejects.toBe(gone);
  });
});
