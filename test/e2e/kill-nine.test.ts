import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { jsonRpcDoor, okOf, readAll, restDoor, type Wire } from '../scenarios/door.ts';
import { type NativeFrame, nativeDoor } from '../scenarios/native-door.ts';
import { type ServerProcess, serveArgs, startServer } from '../support/server-process.ts';

let folder: string;
let server: ServerProcess;

const start = () =>
  startServer({
    args: serveArgs('agents/bench.ts', 'agents/tck.ts', '--store', `sqlite:${path.join(folder, 'data.db')}`),
  });

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'holdfast-kill-'));
  server = await start();
});
afterEach(async () => {
  await server.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** Reads until `count` frames of `kind` came, then stops reading. */
async function readUntil(
  frames: AsyncIterator<NativeFrame>,
  kind: string,
  count: number,
): Promise<readonly NativeFrame[]> {
  const seen: NativeFrame[] = [];
  while (seen.filter((frame) => frame.event === kind).length < count) {
    const next = await frames.next();
    if (next.done) throw new Error('the stream ended');
    seen.push(next.value);
  }
  return seen;
}

test(`a task goes on by itself after kill -9, and its readers miss nothing ${verifies('durable.crash', 'durable.log', 'durable.resume')}`, async () => {
  const begun = okOf(
    await jsonRpcDoor({ url: server.url }).send({
      text: 'bench chunks=200 delay=5 size=8',
      configuration: { returnImmediately: true },
    }),
  ).task;
  const stream = await nativeDoor({ url: server.url }).open(begun.id);
  const before = await readUntil(stream.frames, 'artifact-updated', 60);
  await server.kill();
  server = await start();
  const after = await nativeDoor({ url: server.url }).follow(begun.id, before.at(-1)?.id);
  const all = [...before, ...after];
  expect(all.map((frame) => frame.value.seq)).toEqual(all.map((_, index) => index + 1));
  const task = okOf(await restDoor({ url: server.url }).get(begun.id));
  expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  expect(task.artifacts[0].parts.map((part: Wire) => part.text)).toEqual(
    Array.from({ length: 200 }, () => 'x'.repeat(8)),
  );
  expect(all.filter((frame) => frame.event === 'artifact-updated')).toHaveLength(200);
  const runs = (await nativeDoor({ url: server.url }).get(`/v1/tasks/${begun.id}/runs`)).body.runs;
  expect(runs.map((run: Wire) => run.outcome)).toEqual(['lost', 'succeeded']);
  expect(await nativeDoor({ url: server.url }).follow(begun.id)).toEqual(all);
});

test(`an A2A subscriber that comes back misses nothing ${verifies('subscribe.snapshot-first', 'durable.crash')}`, async () => {
  const begun = okOf(
    await jsonRpcDoor({ url: server.url }).send({
      text: 'bench chunks=120 delay=5 size=4',
      configuration: { returnImmediately: true },
    }),
  ).task;
  const stream = await nativeDoor({ url: server.url }).open(begun.id);
  await readUntil(stream.frames, 'artifact-updated', 20);
  await server.kill();
  server = await start();
  const frames = await readAll(await restDoor({ url: server.url }).subscribe(begun.id));
  const chunks =
    frames[0].task.artifacts[0].parts.length + frames.filter((frame) => frame.artifactUpdate !== undefined).length;
  expect(chunks).toBe(120);
  expect(frames.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
});

test(`the same message after a restart, over another binding, is the same task ${verifies('idempotent.same')}`, async () => {
  const message = { messageId: 'once', text: 'bench chunks=3' };
  const first = okOf(await jsonRpcDoor({ url: server.url }).send(message)).task;
  await server.kill();
  server = await start();
  expect(okOf(await restDoor({ url: server.url }).send(message)).task).toEqual(first);
  expect((await nativeDoor({ url: server.url }).get(`/v1/tasks/${first.id}/runs`)).body.runs).toHaveLength(1);
});

test('a question waits over kill -9, and its answer continues the same task', async () => {
  const tck = { url: `${server.url}/agents/tck` };
  const asked = okOf(await jsonRpcDoor(tck).send({ messageId: 'tck-input-required-kill' })).task;
  expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  await server.kill();
  server = await start();
  const door = jsonRpcDoor({ url: `${server.url}/agents/tck` });
  expect(okOf(await door.get(asked.id))).toEqual(asked);
  expect(okOf(await door.send({ messageId: 'tck-complete-task-kill', taskId: asked.id })).task.status.state).toBe(
    'TASK_STATE_COMPLETED',
  );
});

test(`SIGTERM ends every stream with a last word, and the next server goes on ${verifies('drain.last-word')}`, async () => {
  const door = jsonRpcDoor({ url: server.url });
  const begun = okOf(
    await door.send({ text: 'bench chunks=2000 delay=20', configuration: { returnImmediately: true } }),
  ).task;
  const native = await nativeDoor({ url: server.url }).open(begun.id);
  const subscription = readAll(await door.subscribe(begun.id));
  await readUntil(native.frames, 'artifact-updated', 3);
  const ended = server.terminate();
  const words: NativeFrame[] = [];
  for (let next = await native.frames.next(); !next.done; next = await native.frames.next()) words.push(next.value);
  expect(words.at(-1)?.event).toBe('going-away');
  expect(JSON.stringify((await subscription).at(-1))).toContain('UNAVAILABLE');
  expect(await ended).toBe(0);
  server = await start();
  expect(okOf(await jsonRpcDoor({ url: server.url }).get(begun.id)).status.state).toBe('TASK_STATE_WORKING');
  expect(okOf(await jsonRpcDoor({ url: server.url }).cancel(begun.id)).status.state).toBe('TASK_STATE_CANCELED');
}, 60_000);
