import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { jsonRpcDoor, okOf, type Wire } from '../scenarios/door.ts';
import { nativeDoor } from '../scenarios/native-door.ts';
import { type ServerProcess, serveArgs, startServer } from '../support/server-process.ts';

const MIB = 1024 * 1024;
const TASK_MIB = 40;
const FILE_BYTES = 8 * MIB;

let folder: string;
let server: ServerProcess;
beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'holdfast-large-'));
  server = await startServer({
    args: serveArgs('test/e2e/large-agent.ts', '--store', `sqlite:${path.join(folder, 'data.db')}`),
    // So small a heap is kept clean, and what grows shows; the readers of old would not have fitted.
    env: { NODE_OPTIONS: '--max-old-space-size=256' },
  });
});
afterEach(async () => {
  await server.kill();
  rmSync(folder, { recursive: true, force: true });
});

const door = () => jsonRpcDoor({ url: server.url });

/** A task that is as large as `order` says and waits for an answer. */
async function largeTask(order: string): Promise<string> {
  const { task } = okOf(
    await door().send({ text: order, configuration: { historyLength: 0, returnImmediately: true } }),
  );
  for (;;) {
    const { tasks } = okOf(await door().list({ includeArtifacts: false }));
    const state = tasks.find((listed: Wire) => listed.id === task.id)?.status.state;
    if (state === 'TASK_STATE_INPUT_REQUIRED') return task.id;
    if (state !== 'TASK_STATE_WORKING' && state !== 'TASK_STATE_SUBMITTED') throw new Error(`the task is ${state}`);
    await pause(50);
  }
}

/** Sends a request and never reads its answer but for the first bytes, which say that it has begun. */
function neverReads(head: string, body = ''): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${head}\r\nhost: 127.0.0.1\r\na2a-version: 1.0\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    });
    socket.once('readable', () => {
      const head = String(socket.read(12));
      if (!head.includes(' 200')) reject(new Error(head + String(socket.read(500))));
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

const rpcHead = 'POST /a2a/jsonrpc HTTP/1.1\r\ncontent-type: application/json';
const rpcBody = (method: string, id: string) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { id } });
const subscriber = (id: string) => neverReads(rpcHead, rpcBody('SubscribeToTask', id));
const getter = (id: string) => neverReads(rpcHead, rpcBody('GetTask', id));
const artifactReader = async (id: string) => {
  const { artifacts } = (await nativeDoor({ url: server.url }).get(`/v1/tasks/${id}/artifacts`)).body;
  return await neverReads(`GET /v1/tasks/${id}/artifacts/${artifacts[0].artifactId} HTTP/1.1`);
};
const nativeReader = (id: string) => neverReads(`GET /v1/tasks/${id}/events HTTP/1.1\r\naccept: text/event-stream`);

/** Asks and gives the pieces of the answer. */
function ask(method: string, id: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { 'a2a-version': '1.0', 'content-type': 'application/json' };
    request(`${server.url}/a2a/jsonrpc`, { method: 'POST', headers }, resolve)
      .once('error', reject)
      .end(rpcBody(method, id));
  });
}

/** Reads a little, rests a little, to the end. */
async function readSlowly(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of answer) {
    pieces.push(piece as Buffer);
    if (pieces.length % 32 === 0) await pause(20);
  }
  return Buffer.concat(pieces).toString();
}

async function countBytes(answer: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const piece of answer) bytes += (piece as Buffer).length;
  return bytes;
}

const many = <Item>(count: number, make: () => Promise<Item>): Promise<Item[]> =>
  Promise.all(Array.from({ length: count }, make));

/** The longest that another client waited for a small answer while `work` went on. */
async function longestWaitMs(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  let longest = 0;
  while (!isOver) {
    const began = performance.now();
    okOf(await door().list({ includeArtifacts: false, historyLength: 0 }));
    longest = Math.max(longest, performance.now() - began);
  }
  await over;
  return longest;
}

test(`readers of a large task that never read cost it once, and nobody's time ${verifies('slow-reader.large-task')}`, async () => {
  const id = await largeTask(`text=${TASK_MIB}`);
  const before = server.memory();
  const sockets: Socket[] = [];
  const alone = await longestWaitMs(subscriber(id).then((socket) => sockets.push(socket)));
  const crowd = [subscriber, getter, nativeReader].map((reader) => many(20, () => reader(id)));
  const crowded = await longestWaitMs(Promise.all(crowd).then((more) => sockets.push(...more.flat())));

  const reading = ask('SubscribeToTask', id).then(readSlowly);
  const more = [...(await many(60, () => subscriber(id))), ...(await many(20, () => artifactReader(id)))];
  okOf(await door().send({ taskId: id, text: 'yes', configuration: { historyLength: 0, returnImmediately: true } }));
  const frames = (await reading).trimEnd().split('\n\n');
  const results = frames.map((frame) => JSON.parse(frame.slice(frame.indexOf('data: ') + 6)).result);
  const text = results[0].task.artifacts[0].parts.map((part: Wire) => part.text).join('');
  expect(text).toHaveLength(TASK_MIB * MIB);
  expect(results.flatMap((result) => result.artifactUpdate?.artifact.parts ?? [])).toEqual([{ text: 'the end' }]);
  expect(results.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');

  const growth = server.memory().peakMb - before.nowMb;
  for (const socket of [...sockets, ...more]) socket.destroy();
  // They share the text; each may hold its backlog and its socket's buffers, far from a tenth of a copy.
  const readers = sockets.length + more.length + 1;
  expect(growth).toBeLessThan((readers * TASK_MIB) / 10);
  expect(crowded).toBeLessThan(3 * alone + 500);
}, 120_000);

test(`files cost an answer the slice that is on its way, however many and large ${verifies('answer.files-streamed')}`, async () => {
  const files = 24;
  const id = await largeTask(`files=${files}`);
  const before = server.memory();
  const sockets = await many(20, () => getter(id));
  sockets.push(...(await many(10, () => nativeReader(id))));
  const lengths = await many(4, () => ask('GetTask', id).then(countBytes));
  const growth = server.memory().peakMb - before.nowMb;
  for (const socket of sockets) socket.destroy();
  for (const length of lengths) expect(length).toBeGreaterThan(files * Math.ceil((FILE_BYTES * 4) / 3));
  expect(new Set(lengths).size).toBe(1);
  // All 34 readers together take less than one answer is long.
  expect(growth).toBeLessThan((files * FILE_BYTES * 4) / 3 / MIB);

  const { artifacts } = (await nativeDoor({ url: server.url }).get(`/v1/tasks/${id}/artifacts`)).body;
  const last = artifacts.find((artifact: Wire) => artifact.name === `file-${files - 1}`);
  const file = await fetch(`${server.url}/v1/tasks/${id}/artifacts/${last.artifactId}`);
  expect(Buffer.from(await file.arrayBuffer()).equals(Buffer.alloc(FILE_BYTES, files))).toBe(true);
}, 120_000);

test('senders who wait for large turns hold nothing of them', async () => {
  // Together they are more than the heap.
  const waiting = many(6, () => door().send({ text: 'text=48&chunk=0.9', configuration: { historyLength: 0 } }));
  for (const answer of await waiting) {
    const { task } = okOf(await answer);
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  }
}, 120_000);
