import { expect, test } from 'vitest';
import { instant } from '../base/clock.ts';
import type { StoredEvent } from '../model/event.ts';
import type { Seq, TaskId } from '../model/ids.ts';
import { LargeText, SharedTexts } from './shared-texts.ts';

const TASK = 't' as TaskId;
const event = (seq: number): StoredEvent => ({ kind: 'task-created', seq: seq as Seq, at: instant(0) });

function createWriter(length = 1) {
  const written: number[] = [];
  const write = ({ seq }: StoredEvent): string | undefined => {
    written.push(seq);
    return seq < 0 ? undefined : `${seq}`.padEnd(length, '.');
  };
  return { written, write };
}

test('a text is written once for all readers of a task, and by each for itself when it is alone', () => {
  const texts = new SharedTexts();
  const [a, b] = [createWriter(), createWriter()];
  const first = texts.join(TASK, a.write);
  expect(first.of(event(1))).toBe('1');
  expect(texts.counts()).toEqual({ tasks: 1, texts: 0 });
  const second = texts.join(TASK, b.write);
  expect([first.of(event(2)), second.of(event(2)), second.of(event(3)), first.of(event(3))]).toEqual([
    '2',
    '2',
    '3',
    '3',
  ]);
  expect([a.written, b.written]).toEqual([[1, 2], [3]]);
  second.leave();
  expect(first.of(event(3))).toBe('3');
  expect(a.written).toEqual([1, 2, 3]);
  first.leave();
  expect(texts.counts()).toEqual({ tasks: 0, texts: 0 });
});

test('what is kept is bounded in number and in size, and nothing stays nothing', () => {
  const texts = new SharedTexts();
  const { write } = createWriter();
  const streams = [texts.join(TASK, write), texts.join(TASK, write)];
  for (let seq = 1; seq <= 1_000; seq += 1) streams[seq % 2]?.of(event(seq));
  expect(texts.counts().texts).toBe(128);
  expect(streams[0]?.of(event(-1))).toBeUndefined();
  const large = createWriter(16 * 1024 + 1);
  const another = texts.join(TASK, large.write);
  const shared = another.of(event(5_000));
  expect(streams[0]?.of(event(5_000))).toBe(shared);
  expect(shared).toEqual(new LargeText(large.write(event(5_000)) ?? ''));
  expect(texts.counts().texts).toBe(128);
  expect(large.written).toEqual([5_000, 5_000]);
});
