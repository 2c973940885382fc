import { expect, test } from 'vitest';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { encodeFrame, streamHeaders, withPings } from './sse.ts';

/** A source of frames that a test feeds. */
function createSource() {
  const frames: string[] = [];
  let wake = (): void => {};
  let ended = false;
  const state = { pulls: 0, returned: false };
  async function* generate(): AsyncGenerator<string> {
    try {
      for (;;) {
        state.pulls += 1;
        while (frames.length === 0 && !ended) await new Promise<void>((resolve) => (wake = resolve));
        const frame = frames.shift();
        if (frame === undefined) return;
        yield frame;
      }
    } finally {
      state.returned = true;
    }
  }
  return {
    state,
    frames: generate(),
    push(frame: string) {
      frames.push(frame);
      wake();
    },
    end() {
      ended = true;
      wake();
    },
  };
}

test('an A2A frame is id and data, a native one id, event and data, each line once', () => {
  expect(encodeFrame({ id: 'c1', data: '{}' })).toBe('id: c1\ndata: {}\n\n');
  expect(encodeFrame({ id: 'c1', event: 'status-changed', data: '{}' })).toBe(
    'id: c1\nevent: status-changed\ndata: {}\n\n',
  );
  expect(encodeFrame({ event: 'going-away', retryMs: 1000, data: '{}' })).toBe(
    'event: going-away\nretry: 1000\ndata: {}\n\n',
  );
});

test('a stream says that nobody may hold it back, alter or keep it', () => {
  expect(streamHeaders).toEqual({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
});

test('a quiet stream pings every 15 s, and 15 s after its last frame', async () => {
  const clock = createFakeClock();
  const source = createSource();
  const reader = withPings(source.frames, clock)[Symbol.asyncIterator]();
  const first = reader.next();
  await clock.advance(14_999);
  source.push('data: a\n\n');
  expect(await first).toEqual({ done: false, value: 'data: a\n\n' });
  const second = reader.next();
  await clock.advance(14_999);
  const early = await Promise.race([second, Promise.resolve('nothing yet')]);
  expect(early).toBe('nothing yet');
  await clock.advance(1);
  expect(await second).toEqual({ done: false, value: ': ping\n\n' });
  const third = reader.next();
  await clock.advance(15_000);
  expect(await third).toEqual({ done: false, value: ': ping\n\n' });
  const fourth = reader.next();
  source.push('data: b\n\n');
  expect(await fourth).toEqual({ done: false, value: 'data: b\n\n' });
  source.end();
  expect(await reader.next()).toEqual({ done: true, value: undefined });
  expect(clock.sleeping()).toBe(0);
});

test('no ping stands inside a frame that comes in pieces', async () => {
  const clock = createFakeClock();
  const source = createSource();
  const reader = withPings(source.frames, clock)[Symbol.asyncIterator]();
  source.push('data: a');
  await reader.next();
  const rest = reader.next();
  await clock.advance(60_000);
  source.push('b\n\n');
  expect(await rest).toEqual({ done: false, value: 'b\n\n' });
  const quiet = reader.next();
  await clock.advance(15_000);
  expect(await quiet).toEqual({ done: false, value: ': ping\n\n' });
  source.end();
  expect(await reader.next()).toEqual({ done: true, value: undefined });
});

test('a reader that does not ask gets no ping and pulls nothing', async () => {
  const clock = createFakeClock();
  const source = createSource();
  const reader = withPings(source.frames, clock)[Symbol.asyncIterator]();
  source.push('a');
  await reader.next();
  for (const frame of ['b', 'c', 'd']) source.push(frame);
  await clock.advance('10m');
  expect(source.state.pulls).toBe(1);
  expect([await reader.next(), await reader.next()].map(({ value }) => value)).toEqual(['b', 'c']);
});

test('what arrives while a ping is on its way is kept, and an error is the reader’s', async () => {
  const clock = createFakeClock();
  const broken = (async function* () {
    yield 'a';
    throw new Error('broken');
  })();
  const reader = withPings(broken, clock)[Symbol.asyncIterator]();
  await reader.next();
  await expect(reader.next()).rejects.toThrow('broken');
  expect(clock.sleeping()).toBe(0);
});

test('leaving ends the source and its timer', async () => {
  const clock = createFakeClock();
  const source = createSource();
  const reader = withPings(source.frames, clock)[Symbol.asyncIterator]();
  source.push('a');
  await reader.next();
  await reader.return?.();
  expect(source.state.returned).toBe(true);
  expect(clock.sleeping()).toBe(0);
});
