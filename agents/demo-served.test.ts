import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { textOf } from '../src/model/message.ts';
import type { RemoteTask, StreamItem } from '../src/protocol/v1/client-codec.ts';
import { type AgentTalk, talkTo } from '../src/testing/agent-talk.ts';
import { createFakeClock, type FakeClock } from '../src/testing/fake-clock.ts';
import { type ServerWorld, startWorld } from '../src/testing/server-world.ts';
import demo from './demo.ts';

let world: ServerWorld;
let talk: AgentTalk;
beforeAll(async () => {
  world = await startWorld({ agents: [demo] });
  talk = talkTo(world.url, { binding: 'rest' });
});
afterAll(() => world.close());

const resultOf = (task: RemoteTask): string => {
  const result = task.artifacts.find((artifact) => artifact.name === 'result');
  return result === undefined ? '' : textOf(result.parts);
};
const kinds = (items: readonly StreamItem[]) =>
  items.map((item) => (item.kind === 'status' ? item.status.state : item.kind));

describe('the demo', () => {
  test('greets, tells what to try, and knows the name the second time', async () => {
    const first = await talk.task({ text: 'hello' });
    expect(resultOf(first)).toMatch(/^Hello! Tell me your name[\s\S]*write about tides/);
    const { contextId } = first;
    const second = await talk.task({ text: 'I am Ada', contextId });
    expect(resultOf(second)).toMatch(/^Pleased to meet you, Ada! This is message 2/);
    expect(second.id).not.toBe(first.id);
    const third = await talk.task({ text: 'hello', contextId });
    expect(resultOf(third)).toMatch(/^Hello again, Ada! This is message 3/);
    expect(resultOf(await talk.task({ text: 'hello' }))).not.toMatch(/, Ada!/);
  });

  test('streams an essay line by line, with a word of status before', async () => {
    const items = await talk.stream({ text: 'write about herrings' });
    const chunks = items.flatMap((item) => (item.kind === 'artifact' ? [item] : []));
    expect(chunks.length).toBe(7);
    expect(chunks.map(({ append, lastChunk }) => [append, lastChunk])).toEqual([
      [false, false],
      ...Array.from({ length: 5 }, () => [true, false]),
      [true, true],
    ]);
    expect(textOf(chunks.flatMap(({ artifact }) => artifact.parts))).toContain('# On herrings');
    expect(kinds(items).at(-1)).toBe('completed');
  });

  test('asks in the middle of its work, and goes on with the answer in text or data', async () => {
    for (const answer of [{ text: '4' }, { data: { people: 4, day: 'friday' } }]) {
      const asked = await talk.task({ text: 'book two seats' });
      expect(asked.status.state).toBe('input-required');
      expect(textOf(asked.status.message?.parts ?? [])).toBe(
        'For how many people shall I book two seats, and for which day?',
      );
      const { id: taskId, contextId } = asked;
      const done = await talk.task({ ...answer, taskId });
      expect([done.id, done.contextId, done.status.state]).toEqual([taskId, contextId, 'completed']);
      expect(resultOf(done)).toMatch(/^Booked two seats for 4, (today|friday)\. Your booking is B-\d{6}\.$/);
    }
  });

  test('refuses an answer that does not fit, and asks again', async () => {
    const { id: taskId } = await talk.task({ text: 'book a table' });
    await expect(talk.send({ data: { people: 99 }, taskId })).rejects.toMatchObject({
      facts: { a2aName: 'InvalidParamsError', violations: [{ field: 'message.parts[0].data.people' }] },
    });
    const again = await talk.task({ text: 'a crowd', taskId });
    expect(again.status.state).toBe('input-required');
    expect(textOf(again.status.message?.parts ?? [])).toMatch(/^That answer does not fit/);
  });

  test('waits for a sign-in, then goes on with any message', async () => {
    const waiting = await talk.task({ text: 'sign in' });
    expect(waiting.status.state).toBe('auth-required');
    const done = await talk.task({ text: 'done', taskId: waiting.id });
    expect(resultOf(done)).toMatch(/^You are signed in/);
  });

  test('pays in two steps, and rejects and fails when asked to', async () => {
    expect(resultOf(await talk.task({ text: 'pay 30' }))).toMatch(/^Paid 30\. Your receipt is P-\d{6}/);
    expect((await talk.task({ text: 'pay 0' })).status.state).toBe('rejected');
    expect((await talk.task({ text: 'reject' })).status.state).toBe('rejected');
    const failed = await talk.task({ text: 'fail' });
    expect(failed.status.state).toBe('failed');
    expect(failed.status.message?.parts).toEqual([{ kind: 'text', text: 'That went wrong, on purpose.' }]);
  });

  test('gives files back, bytes and links', async () => {
    const raw = Uint8Array.of(0, 1, 254, 255);
    const task = await talk.task({
      text: 'here',
      parts: [
        { kind: 'raw', raw, filename: 'a.bin', mediaType: 'application/x-tide' },
        { kind: 'url', url: 'https://x.example/b.pdf', filename: 'b.pdf' },
      ],
    });
    expect(textOf(task.status.message?.parts ?? [])).toBe('Here are your 2 files again.');
    expect(task.artifacts.map(({ name, parts }) => [name, parts])).toEqual([
      ['a.bin', [{ kind: 'raw', raw: Buffer.from(raw), filename: 'a.bin', mediaType: 'application/x-tide' }]],
      ['b.pdf', [{ kind: 'url', url: 'https://x.example/b.pdf', filename: 'b.pdf' }]],
    ]);
  });

  test('answers a ping at once, and leaves no task', async () => {
    expect(textOf((await talk.reply({ skill: 'ping', text: 'hi' })).parts)).toBe('pong: hi');
    expect((await talk.stream({ skill: 'ping', text: '' })).length).toBe(1);
  });
});

describe('the demo on a clock that stands still', () => {
  let clock: FakeClock;
  let still: ServerWorld;
  beforeEach(async () => {
    clock = createFakeClock();
    still = await startWorld({ agents: [demo], clock });
    return () => still.close();
  });

  test('sleeps an hour without a run', async () => {
    const talk = talkTo(still.url);
    const sending = talk.stream({ text: 'wait 1h' });
    const stats = async () => (await still.store.stats()).runs;
    await expect.poll(async () => (await stats()).waiting).toBe(1);
    expect(await stats()).toEqual({ queued: 0, leased: 0, waiting: 1 });
    await clock.advance('61m');
    expect(kinds(await sending).at(-1)).toBe('completed');
  });
});
