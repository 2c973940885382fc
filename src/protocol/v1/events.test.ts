import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { instant } from '../../base/clock.ts';
import { EVENT_KIND_NUMBERS, type NewEvent, type StoredEvent } from '../../model/event.ts';
import type { ArtifactId, ContextId, MessageId, RunId, RunNo, Seq, TaskId, ThreadId, TurnNo } from '../../model/ids.ts';
import type { Part } from '../../model/message.ts';
import { createStreamWriter, encodeStreamEvent, type StreamTask } from './events.ts';

const task: StreamTask = {
  id: 't1' as TaskId,
  contextId: 'c1' as ContextId,
  threadId: 'h1' as ThreadId,
  trace: '0af7651916cd43dd8448eb211c80319c',
  runIdOf: (runNo) => (runNo === 7 ? ('r7' as RunId) : undefined),
};
const at = instant(Date.UTC(2026, 0, 31, 12, 0, 0, 5));

const stored = (event: NewEvent, seq = 5): StoredEvent => ({ ...event, seq: seq as Seq, at });
const chunk = (parts: readonly Part[], more: object = {}): StoredEvent =>
  stored({
    kind: 'artifact-updated',
    artifactId: 'a1' as ArtifactId,
    origin: 'output',
    turnNo: 1 as TurnNo,
    parts,
    append: false,
    lastChunk: false,
    ...more,
  });

const CORRELATION =
  '"https://holdfast.dev/a2a/v1/correlation":{"sessionId":"c1","taskId":"t1","threadId":"h1","traceId":"0af7651916cd43dd8448eb211c80319c"';

/** What peers see, letter by letter. */
describe('frames', () => {
  test.each<[string, StoredEvent, string]>([
    [
      'a status',
      stored({ kind: 'status-changed', state: 'working' }),
      `{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-31T12:00:00.005Z"},"metadata":{${CORRELATION},"seq":5}}}}`,
    ],
    [
      'a status with the words of the agent',
      stored({
        kind: 'status-changed',
        state: 'input-required',
        message: { messageId: 'm2' as MessageId, role: 'agent', parts: [{ kind: 'text', text: 'Ship?' }] },
      }),
      `{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"m2","contextId":"c1","taskId":"t1","role":"ROLE_AGENT","parts":[{"text":"Ship?"}]},"timestamp":"2026-01-31T12:00:00.005Z"},"metadata":{${CORRELATION},"seq":5}}}}`,
    ],
    [
      'the first chunk of an artifact',
      chunk([{ kind: 'text', text: 'a' }], {
        runNo: 7 as RunNo,
        header: { name: 'a.txt', description: 'A', metadata: { x: 1 }, extensions: ['e'] },
      }),
      `{"artifactUpdate":{"taskId":"t1","contextId":"c1","artifact":{"artifactId":"a1","name":"a.txt","description":"A","parts":[{"text":"a"}],"metadata":{"x":1},"extensions":["e"]},"metadata":{${CORRELATION},"runId":"r7","seq":5}}}}`,
    ],
    [
      'the last chunk, appended',
      chunk([{ kind: 'text', text: 'b' }], { append: true, lastChunk: true, runNo: 7 as RunNo }),
      `{"artifactUpdate":{"taskId":"t1","contextId":"c1","artifact":{"artifactId":"a1","parts":[{"text":"b"}]},"append":true,"lastChunk":true,"metadata":{${CORRELATION},"runId":"r7","seq":5}}}}`,
    ],
    [
      'a discarded artifact',
      stored({ kind: 'artifact-discarded', artifactId: 'a1' as ArtifactId, runNo: 7 as RunNo }),
      `{"artifactUpdate":{"taskId":"t1","contextId":"c1","artifact":{"artifactId":"a1","parts":[{"text":""}]},"lastChunk":true,"metadata":{${CORRELATION},"runId":"r7","seq":5},"https://holdfast.dev/a2a/v1/discarded":true}}}`,
    ],
  ])('%s', (_name, event, frame) => {
    expect(JSON.stringify(encodeStreamEvent(event, task))).toBe(frame);
    expect(createStreamWriter(task)(event)).toBe(frame);
  });

  test('no frame has a kind or a final', () => {
    for (const event of [stored({ kind: 'status-changed', state: 'completed' }), chunk([])]) {
      expect(createStreamWriter(task)(event)).not.toMatch(/"(kind|final)"/);
    }
  });

  test('without a trace and with an unknown run these ids are left out', () => {
    const { trace: _, ...untraced } = task;
    expect(encodeStreamEvent(chunk([], { runNo: 8 as RunNo }), untraced)).toMatchObject({
      artifactUpdate: {
        metadata: {
          'https://holdfast.dev/a2a/v1/correlation': { sessionId: 'c1', taskId: 't1', threadId: 'h1', seq: 5 },
        },
      },
    });
  });
});

test('a run that becomes known during a stream is named from then on', () => {
  const known = new Map<RunNo, RunId>();
  const write = createStreamWriter({ ...task, runIdOf: (runNo) => known.get(runNo) });
  const event = chunk([{ kind: 'text', text: 'a' }], { runNo: 9 as RunNo });
  expect(write(event)).not.toContain('runId');
  known.set(9 as RunNo, 'r9' as RunId);
  expect(write(event)).toContain('"runId":"r9"');
});

const others: Record<string, NewEvent> = {
  'task-created': { kind: 'task-created' },
  'message-received': {
    kind: 'message-received',
    turnNo: 1 as TurnNo,
    message: { messageId: 'm1' as MessageId, role: 'user', parts: [{ kind: 'text', text: 'hi' }] },
  },
  'cancel-requested': { kind: 'cancel-requested', by: 'ann' },
  'run-started': { kind: 'run-started', runId: 'r1' as RunId, turnNo: 1 as TurnNo, attempt: 1, workerId: 'w1' },
  'run-settled': { kind: 'run-settled', runId: 'r1' as RunId, turnNo: 1 as TurnNo, outcome: 'succeeded' },
  'question-asked': { kind: 'question-asked', askId: 'ask:Ship?', question: {} },
  'question-answered': { kind: 'question-answered', askId: 'ask:Ship?', how: 'answered' },
  'timer-set': { kind: 'timer-set', key: 'sleep:1h', wakeAt: at },
  'timer-fired': { kind: 'timer-fired', key: 'sleep:1h' },
  'message-dropped': { kind: 'message-dropped', messageId: 'm1' as MessageId, turnNo: 2 as TurnNo },
};

describe('what A2A streams do not carry', () => {
  test.each(Object.entries(others))('%s', (_kind, event) => {
    expect(encodeStreamEvent(stored(event), task)).toBeUndefined();
    expect(createStreamWriter(task)(stored(event))).toBeUndefined();
  });

  test('an input artifact', () => {
    const input = chunk([{ kind: 'text', text: 'mine' }], { origin: 'input' });
    expect(encodeStreamEvent(input, task)).toBeUndefined();
    expect(createStreamWriter(task)(input)).toBeUndefined();
  });

  test('every kind is in one of the lists', () => {
    const carried = ['status-changed', 'artifact-updated', 'artifact-discarded'];
    expect([...carried, ...Object.keys(others)].sort()).toEqual(Object.keys(EVENT_KIND_NUMBERS).sort());
  });
});

describe('the text of a frame', () => {
  const words = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('"', '\\', '\u2028', '\ud800', '\n\u0000', '</script>'),
  );
  const common = fc.record(
    { mediaType: words, filename: words, metadata: fc.dictionary(words, fc.jsonValue() as fc.Arbitrary<never>) },
    { requiredKeys: [] },
  );
  const content: fc.Arbitrary<Part> = fc.oneof(
    words.map((text): Part => ({ kind: 'text', text })),
    fc.uint8Array({ maxLength: 20 }).map((raw): Part => ({ kind: 'raw', raw })),
    fc.webUrl().map((url): Part => ({ kind: 'url', url })),
    fc.jsonValue().map((data): Part => ({ kind: 'data', data: data as never })),
    fc.constantFrom('text', 'raw', 'url', 'data').map((of): Part => ({ kind: 'withheld', of })),
  );
  const part = fc.tuple(content, fc.oneof(fc.constant({}), common)).map(([bare, more]): Part => ({ ...bare, ...more }));
  const chunks = fc
    .record({
      parts: fc.array(part, { maxLength: 3 }),
      append: fc.boolean(),
      lastChunk: fc.boolean(),
      artifactId: words,
      runNo: fc.constantFrom(undefined, 7, 8),
      header: fc.constantFrom(undefined, {}, { name: '"' }),
    })
    .map(({ parts, runNo, header, ...more }) =>
      chunk(parts, { ...more, ...(runNo === undefined ? {} : { runNo }), ...(header === undefined ? {} : { header }) }),
    );

  test('equals the text of the object, event after event', () => {
    fc.assert(
      fc.property(fc.array(chunks, { minLength: 1, maxLength: 6 }), (events) => {
        const write = createStreamWriter(task);
        for (const event of events) expect(write(event)).toBe(JSON.stringify(encodeStreamEvent(event, task)));
      }),
      { numRuns: 300 },
    );
  });
});
