import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { instant } from '../base/clock.ts';
import type { NewEvent, StoredEvent } from '../model/event.ts';
import type { ArtifactId, Seq, TaskNo, TurnNo } from '../model/ids.ts';
import { emptyContent, foldContent } from '../model/task-fold.ts';
import { textMessage } from '../testing/runtime-node.ts';
import { contentAt } from './content-at.ts';

const TASK = 1 as TaskNo;
const turnNo = 1 as TurnNo;

const newEvent: fc.Arbitrary<NewEvent> = fc.oneof(
  fc.string().map((id): NewEvent => ({ kind: 'message-received', message: textMessage(id, 'hello'), turnNo })),
  fc.boolean().map(
    (speaks): NewEvent => ({
      kind: 'status-changed',
      state: 'working',
      ...(speaks ? { message: textMessage('s', 'so far so good') } : {}),
    }),
  ),
  fc
    .record({
      id: fc.constantFrom('a', 'b', 'c'),
      append: fc.boolean(),
      lastChunk: fc.boolean(),
      named: fc.boolean(),
      text: fc.constantFrom('', 'x', 'yy'),
    })
    .map(
      ({ id, append, lastChunk, named, text }): NewEvent => ({
        kind: 'artifact-updated',
        artifactId: id as ArtifactId,
        origin: 'output',
        turnNo,
        ...(named ? { header: { name: id } } : {}),
        parts: [{ kind: 'text', text }],
        append,
        lastChunk,
      }),
    ),
  fc.constantFrom('a', 'b', 'c').map((id): NewEvent => ({ kind: 'artifact-discarded', artifactId: id as ArtifactId })),
  fc.constant<NewEvent>({ kind: 'timer-fired', key: 'k' }),
);
const log = fc
  .array(newEvent, { minLength: 1, maxLength: 40 })
  .map((events) => events.map((event, at): StoredEvent => ({ ...event, seq: (at + 1) as Seq, at: instant(at) })));

/** A store that gives pages of at most three events. */
const storeOf = (events: readonly StoredEvent[]) => ({
  readEvents: (_: TaskNo, { after, eventsMax }: { readonly after: Seq; readonly eventsMax: number }) =>
    Promise.resolve(events.slice(after, after + Math.min(eventsMax, 3))),
});
const bytesMax = Number.POSITIVE_INFINITY;

describe('content at a head', () => {
  test('is what a fold of the log up to there gives, whatever came after', async () => {
    await fc.assert(
      fc.asyncProperty(log, fc.nat(), fc.option(fc.nat(5), { nil: undefined }), async (events, some, historyMax) => {
        const headSeq = ((some % events.length) + 1) as Seq;
        const want = { artifacts: true, ...(historyMax === undefined ? {} : { historyMax }) };
        const content = await contentAt(storeOf(events), TASK, { headSeq, want, bytesMax });
        const whole = events.slice(0, headSeq).reduce(foldContent, emptyContent);
        const wanted = Math.max(0, whole.history.length - (historyMax ?? whole.history.length));
        expect(content).toEqual({ ...whole, history: whole.history.slice(wanted) });
      }),
    );
  });

  test('holds as much history as is wanted, and artifacts only where they are', async () => {
    const events = ['1', '2', '3'].map(
      (id, at): StoredEvent => ({
        kind: 'message-received',
        message: textMessage(id, 'x'),
        turnNo,
        seq: (at + 1) as Seq,
        at: instant(0),
      }),
    );
    const at = { headSeq: 3 as Seq, bytesMax };
    for (const historyMax of [0, 1, 2, 9]) {
      const content = await contentAt(storeOf(events), TASK, { ...at, want: { historyMax, artifacts: false } });
      const kept = typeof content === 'object' ? content.history.map(({ messageId }) => messageId) : content;
      expect(kept).toEqual(['1', '2', '3'].slice(Math.max(0, 3 - historyMax)));
    }
  });

  test('takes no room for messages that nobody wants', async () => {
    const said = (seq: number): StoredEvent => ({
      ...(seq % 2 === 0
        ? { kind: 'message-received', message: textMessage(`${seq}`, 'x'.repeat(1_000)), turnNo }
        : { kind: 'status-changed', state: 'working', message: textMessage(`${seq}`, 'x'.repeat(1_000)) }),
      seq: seq as Seq,
      at: instant(0),
    });
    const events = Array.from({ length: 20 }, (_, at) => said(at + 1));
    const at = { headSeq: 20 as Seq, bytesMax: 5_000 };
    expect(await contentAt(storeOf(events), TASK, { ...at, want: { artifacts: false } })).toBe('too-large');
    const content = await contentAt(storeOf(events), TASK, { ...at, want: { historyMax: 2, artifacts: false } });
    expect(content).toMatchObject({ history: [{ messageId: '18' }, { messageId: '20' }], statusMessage: {} });
  });

  test('says so where the task is gone, or holds more than may be held; what was replaced does not count', async () => {
    const chunk = (seq: number, append: boolean): StoredEvent => ({
      kind: 'artifact-updated',
      artifactId: 'a' as ArtifactId,
      origin: 'output',
      turnNo,
      parts: [{ kind: 'text', text: 'x'.repeat(1_000) }],
      append,
      lastChunk: false,
      seq: seq as Seq,
      at: instant(0),
    });
    const at = { headSeq: 9 as Seq, want: { artifacts: true }, bytesMax: 5_000 };
    const appended = Array.from({ length: 9 }, (_, index) => chunk(index + 1, true));
    const replaced = Array.from({ length: 9 }, (_, index) => chunk(index + 1, false));
    expect(await contentAt(storeOf(appended), TASK, at)).toBe('too-large');
    expect(await contentAt(storeOf(replaced), TASK, at)).toMatchObject({ artifacts: [{ baseSeq: 9 }] });
    expect(await contentAt({ readEvents: () => Promise.resolve(undefined) }, TASK, at)).toBe('gone');
  });
});
