import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineAgent } from '../agent/define-agent.ts';
import { limits } from '../base/limits.ts';
import { clientMessage } from '../testing/door-agent.ts';
import { call, framesOf, open, rpc, type Wire } from '../testing/door-calls.ts';
import { type ServerWorld, startWorld } from '../testing/server-world.ts';

/** What could be taken for a mark, letters of every length, and half a letter at the end of a chunk. */
const LINE = '"\\u0062lob 1 70000" \\"\\u0062lob 1 1" ä€🙂\n';
const CHUNKS = ['a', 'b', 'c'].map(
  (letter) => `${letter}${LINE.repeat(Math.ceil(limits.largeTaskBytes / LINE.length / 2))}\ud83d`,
);
const FILE = Buffer.alloc(limits.inlineRawBytesMax * 2 + 1, 7);

const agent = defineAgent({
  name: 'large',
  description: 'Makes a task that is large.',
  async run(turn) {
    const text = turn.artifact('text');
    for (const chunk of CHUNKS) await text.append(chunk);
    await turn.artifact('file').append(FILE, { last: true });
    if (turn.text === 'ask') await turn.ask('more?');
    await text.close();
  },
});

let world: ServerWorld;
let id: string;
let sent: Wire;
beforeAll(async () => {
  world = await startWorld({ agents: [agent] });
  sent = (await send('ask')).result.task;
  id = sent.id;
});
afterAll(() => world.close());

const request = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 'q', method, params });
const send = async (text: string): Promise<Wire> =>
  (await rpc(world, request('SendMessage', { message: clientMessage({ parts: [{ text }] }) }))).json;

function expectWhole(task: Wire): void {
  const [text, file] = task.artifacts;
  expect(text.parts.map((part: Wire) => part.text)).toEqual(CHUNKS);
  expect(Buffer.from(file.parts[0].raw, 'base64').equals(FILE)).toBe(true);
  expect(task.id).toBe(id);
  expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  expect(task.history.map((message: Wire) => message.parts)).toEqual([[{ text: 'ask' }]]);
}

describe('a large task is whole', () => {
  test('in the answer to its message', () => expectWhole(sent));

  test('in GetTask', async () => {
    const { json } = await rpc(world, request('GetTask', { id }));
    expect([json.jsonrpc, json.id, Object.keys(json)]).toEqual(['2.0', 'q', ['jsonrpc', 'id', 'result']]);
    expectWhole(json.result);
    const again = await call(world, `/a2a/v1/tasks/${id}`);
    expect(again.headers['content-type']).toBe('application/a2a+json');
    expect(again.json).toEqual(json.result);
    const none = await rpc(world, request('GetTask', { id, historyLength: 0 }));
    expect(none.json.result.history).toBeUndefined();
    expect(none.json.result.artifacts).toHaveLength(2);
  });

  test('in the native task, after whichever message', async () => {
    const { json } = await call(world, `/v1/tasks/${id}`);
    expectWhole(json);
    expect(json.taskId).toBe(id);
    const after = await call(world, `/v1/tasks/${id}?historyAfter=${json.history[0].messageId}`);
    expect(after.json.history).toBeUndefined();
    expect(after.json.artifacts).toHaveLength(2);
    expect((await call(world, `/v1/tasks/${id}?historyAfter=nobody`)).status).toBe(400);
  });

  test('in lists, where artifacts were asked for, beside small ones', async () => {
    for (const path of ['/a2a/v1/tasks', '/v1/tasks']) {
      const { json } = await call(world, `${path}?includeArtifacts=true`);
      expectWhole(json.tasks.find((task: Wire) => task.id === id));
      expect([json.pageSize, json.totalSize, json.nextPageToken]).toEqual([50, json.tasks.length, '']);
      const without = await call(world, `${path}?includeArtifacts=false`);
      expect(without.text.length).toBeLessThan(10_000);
    }
  });

  test('in the first frame of a subscription, and what follows comes after it', async () => {
    const response = await rpc(world, request('SendMessage', { message: clientMessage({ parts: [{ text: 'ask' }] }) }));
    const other = response.json.result.task.id;
    const stream = await open(world, `/a2a/v1/tasks/${other}:subscribe`);
    let text = '';
    let isAnswered = false;
    for await (const piece of stream.body as AsyncIterable<string>) {
      text += piece;
      if (!text.endsWith('\n\n') || isAnswered) continue;
      isAnswered = true;
      await answer(other);
    }
    const frames = framesOf(text).map(({ data }) => data);
    expect(frames[0].task.artifacts[0].parts.map((part: Wire) => part.text)).toEqual(CHUNKS);
    expect(frames.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
    const log = await open(world, `/v1/tasks/${other}/events`, { headers: { accept: 'text/event-stream' } });
    let replayed = '';
    for await (const piece of log.body as AsyncIterable<string>) replayed += piece;
    const parts = framesOf(replayed).flatMap(({ data }) => data.artifact?.parts ?? []);
    expect(parts.slice(0, 3).map((part: Wire) => part.text)).toEqual(CHUNKS);
    expect(Buffer.from(parts[3].raw, 'base64').equals(FILE)).toBe(true);
  });

  const answer = (taskId: string) =>
    rpc(
      world,
      request('SendMessage', {
        message: clientMessage({ taskId, parts: [{ text: 'yes' }] }),
        configuration: { returnImmediately: true },
      }),
    );

  test('in its artifacts, as JSON and as files of the length that was told', async () => {
    const { artifacts } = (await call(world, `/v1/tasks/${id}/artifacts`)).json;
    const [text, file] = ['text', 'file'].map((name) => artifacts.find((artifact: Wire) => artifact.name === name));
    const path = `/v1/tasks/${id}/artifacts/${text.artifactId}`;
    const asJson = await call(world, path, { headers: { accept: 'application/json' } });
    expect(asJson.json.parts.map((part: Wire) => part.text)).toEqual(CHUNKS);
    const asFile = await call(world, path);
    expect(asFile.text).toBe(CHUNKS.map((chunk) => chunk.toWellFormed()).join(''));
    expect(asFile.headers['content-length']).toBe(`${Buffer.byteLength(asFile.text)}`);
    const bytes = await fetch(`${world.url}/v1/tasks/${id}/artifacts/${file.artifactId}`);
    expect(bytes.headers.get('content-length')).toBe(`${FILE.length}`);
    expect(Buffer.from(await bytes.arrayBuffer()).equals(FILE)).toBe(true);
  });
});
