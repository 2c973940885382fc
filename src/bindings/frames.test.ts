import { describe, expect, test } from 'vitest';
import { instant } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import { silentLogger } from '../base/log.ts';
import type { StoredEvent } from '../model/event.ts';
import type { ArtifactId, ContextId, Seq, TaskId, ThreadId, TurnNo } from '../model/ids.ts';
import type { Part } from '../model/message.ts';
import type { Task } from '../model/task.ts';
import type { StreamItem, TaskStream } from '../operations/operations.ts';
import { framesOf } from '../testing/door-calls.ts';
import { a2aFrames, type FrameShape } from './a2a-frames.ts';
import type { DoorParts } from './door.ts';
import { Faults } from './http/fault.ts';
import { nativeFrames } from './native/frames.ts';
import { SharedTexts } from './shared-texts.ts';

const parts = {
  faults: new Faults({ log: silentLogger, newId: () => 'error-1' }),
  texts: { a2a: new SharedTexts(), native: new SharedTexts() },
  cursorOf: (seq: Seq) => `c-${seq}`,
} as unknown as DoorParts;
const shape: FrameShape = {
  before: '',
  after: '',
  error: (fault) => JSON.stringify({ error: { message: fault.message, reason: fault.details[0]?.reason } }),
};
const task = {
  id: 't1' as TaskId,
  contextId: 's1' as ContextId,
  threadId: 'th1' as ThreadId,
  agent: 'a',
  state: 'working',
  stateAt: instant(0),
  createdAt: instant(0),
  headAt: instant(0),
  headSeq: 3 as Seq,
} as unknown as Task;
const live = new AbortController().signal;

function chunk(seq: number, text: string): StreamItem {
  const event: StoredEvent = {
    kind: 'artifact-updated',
    seq: seq as Seq,
    at: instant(0),
    artifactId: 'out' as ArtifactId,
    origin: 'output',
    turnNo: 1 as TurnNo,
    parts: [{ kind: 'text', text }],
    append: true,
    lastChunk: false,
  };
  return { kind: 'event', event, task };
}

async function read(frames: AsyncIterable<string>): Promise<{ readonly pieces: number; readonly text: string }> {
  let text = '';
  let pieces = 0;
  for await (const piece of frames) {
    text += piece;
    pieces += 1;
  }
  return { pieces, text };
}

const streamOf = (items: AsyncIterable<readonly StreamItem[]>): TaskStream => ({
  kind: 'task',
  first: { task, content: { history: [], artifacts: [] } },
  items,
});
const both = async (items: () => AsyncIterable<readonly StreamItem[]>, signal = live) => ({
  a2a: await read(a2aFrames(parts, streamOf(items()), { shape, signal })),
  native: await read(nativeFrames(parts, { task, items: items() }, signal)),
});

async function* batches(...all: readonly (readonly StreamItem[])[]): AsyncGenerator<readonly StreamItem[]> {
  yield* all;
}

test('pins: a frame of an update, on A2A and on native', async () => {
  const { a2a, native } = await both(() => batches([chunk(4, 'x\n')]));
  expect(a2a.text.split('\n\n').at(-2)).toBe(
    'id: c-4\ndata: {"artifactUpdate":{"taskId":"t1","contextId":"s1","artifact":{"artifactId":"out","parts":[{"text":"x\\n"}]},"append":true,"metadata":{"https://holdfast.dev/a2a/v1/correlation":{"sessionId":"s1","taskId":"t1","threadId":"th1","seq":4}}}}',
  );
  expect(native.text).toBe(
    'id: c-4\nevent: artifact-updated\ndata: {"seq":4,"kind":"artifact-updated","at":"1970-01-01T00:00:00.000Z","sessionId":"s1","taskId":"t1","threadId":"th1","turn":1,"origin":"output","artifact":{"artifactId":"out","parts":[{"text":"x\\n"}]},"append":true,"lastChunk":false}\n\n',
  );
});

test('many small frames travel in one piece, large ones in several', async () => {
  const small = Array.from({ length: 100 }, (_, index) => chunk(index + 4, 'x'));
  expect((await read(nativeFrames(parts, { task, items: batches(small) }, live))).pieces).toBe(1);
  const large = Array.from({ length: 4 }, (_, index) => chunk(index + 4, 'x'.repeat(40_000)));
  expect((await read(nativeFrames(parts, { task, items: batches(large) }, live))).pieces).toBe(2);
});

test('the first frame of a small task is one piece', async () => {
  const signal = live;
  expect((await read(a2aFrames(parts, streamOf(batches([chunk(4, 'x')])), { shape, signal }))).pieces).toBe(2);
});

test('a stream that breaks inside a frame breaks its connection: a last word would be taken for the rest of it', async () => {
  const blob = { kind: 'blob', blobNo: 1, bytes: 3, sha256: '' } as unknown as Part;
  const item = chunk(4, 'x') as Extract<StreamItem, { kind: 'event' }>;
  const items = () => batches([{ ...item, event: { ...item.event, parts: [blob] } as StoredEvent }]);
  const failing = {
    ...parts,
    // biome-ignore lint/correctness/useYield: it breaks before it has anything to give
    readBlob: async function* (): AsyncGenerator<Uint8Array> {
      throw new Error('the blob is not whole');
    },
  };
  await expect(read(a2aFrames(failing, streamOf(items()), { shape, signal: live }))).rejects.toThrow('inside a frame');
  await expect(read(nativeFrames(failing, { task, items: items() }, live))).rejects.toThrow('inside a frame');
  expect(parts.texts.a2a.counts()).toEqual({ tasks: 0, texts: 0 });
});

describe('the last word', () => {
  test('of a task that was deleted', async () => {
    const { a2a, native } = await both(() => batches([{ kind: 'gone' }]));
    expect(framesOf(a2a.text).at(-1)?.data).toMatchObject({ error: { reason: 'TASK_NOT_FOUND' } });
    expect(native.text).toBe('event: gone\ndata: {"sessionId":"s1","taskId":"t1","threadId":"th1"}\n\n');
  });

  test('of a server that goes away', async () => {
    const { a2a, native } = await both(() => batches([{ kind: 'going-away' }]));
    expect(framesOf(a2a.text).at(-1)?.data).toMatchObject({ error: { reason: 'UNAVAILABLE' } });
    expect(native.text).toBe(
      'event: going-away\nretry: 1000\ndata: {"sessionId":"s1","taskId":"t1","threadId":"th1"}\n\n',
    );
  });

  test.each([
    [new CodedError('unavailable', { message: 'The disk is full.' }), 'UNAVAILABLE', 'The disk is full.'],
    [new Error('password=hunter2'), 'INTERNAL', 'Internal error'],
  ])('of a stream that broke is whole, and tells what may be told: %s', async (error, reason, message) => {
    async function* broken(): AsyncGenerator<readonly StreamItem[]> {
      yield [chunk(4, 'x')];
      throw error;
    }
    const { a2a, native } = await both(broken);
    expect(framesOf(a2a.text).at(-1)?.data).toEqual({ error: { reason, message } });
    expect(framesOf(native.text).at(-1)).toMatchObject({ event: 'server-error', data: { error: { message } } });
    expect(a2a.text + native.text).not.toContain('hunter2');
    expect(parts.texts.a2a.counts()).toEqual({ tasks: 0, texts: 0 });
  });

  test('is nothing when nobody is there to hear it', async () => {
    const gone = AbortSignal.abort();
    const { native } = await both(
      // biome-ignore lint/correctness/useYield: it breaks before it has anything to give
      async function* (): AsyncGenerator<readonly StreamItem[]> {
        throw new Error('the client has gone');
      },
      gone,
    );
    expect(native.text).toBe('');
  });
});
