import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';

/** A server under load, and what a client does to it over JSON-RPC. Counts frames without parsing them, so that the client is not what is measured. */
export interface Target {
  readonly url: string;
  readonly agent: Agent;
}

export function openTarget(url: string): Target {
  return { url, agent: new Agent({ keepAlive: true, maxSockets: 256 }) };
}

interface Answer {
  readonly bytes: number;
  readonly frames: number;
  readonly firstFrameMs: number;
  readonly tail: string;
}

/** One JSON-RPC call; resolves when its answer has ended. */
function call(target: Target, method: 'SendMessage' | 'SendStreamingMessage', text: string): Promise<Answer> {
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { message } });
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(
      `${target.url}/a2a/jsonrpc`,
      {
        method: 'POST',
        agent: target.agent,
        headers: {
          'content-type': 'application/json',
          'a2a-version': '1.0',
          accept: 'text/event-stream, application/json',
          'content-length': Buffer.byteLength(body),
        },
      },
      (response) => {
        let bytes = 0;
        let frames = 0;
        let firstFrameMs = 0;
        let tail = '';
        response.on('data', (chunk: Buffer) => {
          if (bytes === 0) firstFrameMs = performance.now() - began;
          bytes += chunk.length;
          frames += countFrames(chunk);
          tail = (tail + chunk.subarray(-600).toString('latin1')).slice(-600);
        });
        response.on('end', () => resolve({ bytes, frames, firstFrameMs, tail }));
        response.on('error', reject);
      },
    );
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // A kept connection that the server closed just now: nothing was sent, so the call is made again.
      if (sent.reusedSocket && error.code === 'ECONNRESET') resolve(call(target, method, text));
      else reject(error);
    });
    sent.end(body);
  });
}

const DATA = Buffer.from('data:');

function countFrames(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(DATA); at >= 0; at = chunk.indexOf(DATA, at + DATA.length)) count += 1;
  return count;
}

/** Blocking sends for `durationMs` from `clients` callers at once; sends per second. */
export async function sendsPerSecond(
  target: Target,
  load: { readonly clients: number; readonly durationMs: number },
): Promise<number> {
  const until = performance.now() + load.durationMs;
  const began = performance.now();
  let sends = 0;
  const loop = async () => {
    while (performance.now() < until) {
      const answer = await call(target, 'SendMessage', 'bench');
      if (!answer.tail.includes('TASK_STATE_COMPLETED')) throw new Error(`a send did not complete: ${answer.tail}`);
      sends += 1;
    }
  };
  await Promise.all(Array.from({ length: load.clients }, loop));
  return (sends / (performance.now() - began)) * 1000;
}

/** Streams of `chunks` chunks, one after another or side by side; events per second over all of them. */
export async function eventsPerSecond(
  target: Target,
  load: { readonly chunks: number; readonly streams: number; readonly clients: number },
): Promise<number> {
  const began = performance.now();
  let left = load.streams;
  let events = 0;
  const loop = async () => {
    while (left > 0) {
      left -= 1;
      const answer = await call(target, 'SendStreamingMessage', `bench chunks=${load.chunks}`);
      if (answer.frames < load.chunks || !answer.tail.includes('TASK_STATE_COMPLETED'))
        throw new Error(`a stream was not whole: ${answer.frames} frames, ${answer.tail}`);
      events += answer.frames;
    }
  };
  await Promise.all(Array.from({ length: load.clients }, loop));
  return (events / (performance.now() - began)) * 1000;
}

/** Median milliseconds from a streaming send to its first byte, one caller. */
export async function firstEventMs(target: Target, tries: number): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < tries; index += 1)
    times.push((await call(target, 'SendStreamingMessage', 'bench chunks=1')).firstFrameMs);
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length / 2)] ?? 0;
}
