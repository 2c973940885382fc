import { describe, expect, test } from 'vitest';
import { instant } from '../base/clock.ts';
import type { NewEvent } from '../model/event.ts';
import type { RunId, Seq, TurnNo } from '../model/ids.ts';
import type { Message } from '../model/message.ts';
import type { RunOutcome } from '../model/run.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { countingStore } from '../testing/intercepted-store.ts';
import { chunk, createNode, never, textMessage } from '../testing/runtime-node.ts';
import { TurnWatch } from './await-turn.ts';

const question: Message = textMessage('q1', 'Which?', { role: 'agent' });
const turnNo = (no: number): TurnNo => no as TurnNo;
const started = (no: number): NewEvent => ({
  kind: 'run-started',
  runId: 'r' as RunId,
  turnNo: turnNo(no),
  attempt: 1,
  workerId: 'w',
});
const settled = (no: number, outcome: RunOutcome): NewEvent => ({
  kind: 'run-settled',
  runId: 'r' as RunId,
  turnNo: turnNo(no),
  outcome,
});
const status = (
  state: 'working' | 'submitted' | 'input-required' | 'auth-required' | 'failed' | 'completed',
): NewEvent => ({ kind: 'status-changed', state });
const asked: NewEvent = { kind: 'question-asked', askId: 'a', question: {} };
const input: NewEvent = {
  kind: 'artifact-updated',
  artifactId: 'i' as never,
  origin: 'input',
  turnNo: turnNo(2),
  parts: [],
  append: false,
  lastChunk: true,
};
const output: NewEvent = { ...input, origin: 'output' };

/** The index of the event at which a turn is over; -1 when it is not. */
function overAt(no: number, events: readonly NewEvent[]): number {
  const watch = new TurnWatch(turnNo(no));
  return events.findIndex((event, at) => watch.isOverAt({ ...event, seq: (at + 1) as Seq, at: instant(0) }));
}

describe('a turn is over', () => {
  test.each<[string, number, number, readonly NewEvent[]]>([
    [
      'when its task completes',
      4,
      1,
      [status('submitted'), started(1), status('working'), output, status('completed')],
    ],
    ['when it asks', 4, 1, [status('submitted'), started(1), status('working'), asked, status('input-required')]],
    ['when it needs a sign-in', 2, 1, [started(1), output, status('auth-required')]],
    ['when its run succeeded and another turn waits', 1, 1, [started(1), settled(1, 'succeeded'), started(2)]],
    ['when its answer did not fit and the question stands again', 1, 2, [input, status('input-required')]],
    ['when the task failed before it began', 1, 2, [settled(1, 'failed'), status('failed')]],
    [
      'after its parked run went on',
      4,
      1,
      [settled(1, 'parked'), status('working'), started(1), output, status('completed')],
    ],
  ])('%s', (_name, at, no, events) => {
    expect(overAt(no, events)).toBe(at);
  });

  test('an event that a newer version wrote is passed over', () => {
    const watch = new TurnWatch(turnNo(2));
    const at = { at: instant(0) };
    expect(watch.isOverAfter([{ kind: 'unknown', seq: 1 as Seq, ...at }])).toBe(false);
    expect(watch.isOverAfter([{ ...status('input-required'), seq: 2 as Seq, ...at }])).toBe(true);
  });

  test.each<[string, number, readonly NewEvent[]]>([
    ['when the turn before it asks', 2, [output, asked, status('input-required')]],
    ['when the turn before it returns interrupted', 2, [settled(1, 'interrupted'), status('input-required')]],
    ['when the turn before it succeeds', 2, [settled(1, 'succeeded'), started(2), status('working')]],
    [
      'when its run was lost, handed back, parked or is tried again',
      1,
      [
        started(1),
        settled(1, 'lost'),
        started(1),
        settled(1, 'handed-back'),
        started(1),
        settled(1, 'failed'),
        started(1),
        settled(1, 'parked'),
      ],
    ],
    ['when the agent says how it goes', 1, [started(1), status('working'), status('working')]],
  ])('not %s', (_name, no, events) => {
    expect(overAt(no, events)).toBe(-1);
  });
});

describe('waiting for a turn', () => {
  test('costs no read, and leaves nothing behind but the timer of all waits', async () => {
    const { store, calls } = countingStore(await openMemoryStore({ clock: createFakeClock() }));
    const node = await createNode({ store });
    await node.start();
    const sent = await node.sendTask('hello');
    const before = node.clock.sleeping();
    const wait = node.runtime.awaitTurn({ ...sent, after: sent.messageSeq }, never);
    await node.clock.advance(0);
    expect(node.clock.sleeping()).toBe(before + 1);
    const grant = await node.engine.startedRun(1);
    await node.emit(grant, chunk(grant, 'a', { append: false }));
    await node.settle(grant, { kind: 'succeeded' });
    await wait;
    await node.runtime.awaitTurn({ ...sent, after: sent.messageSeq }, never);
    expect(node.clock.sleeping()).toBe(before + 1);
    expect(node.system.hub.counts().followers).toBe(0);
    expect([calls.get('readEvents'), calls.get('readHeads'), calls.get('scoped.readTask')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('ends when it has taken as long as a send may, when the caller leaves, and when the server stops', async () => {
    const node = await createNode({ config: { sendWaitMaxMs: 10_000 } });
    await node.start();
    const sent = await node.sendTask('hello');
    const at = { ...sent, after: sent.messageSeq };
    const ended: string[] = [];
    const leave = new AbortController();
    const waits = [
      node.runtime.awaitTurn(at, never).then(() => ended.push('long')),
      node.runtime.awaitTurn(at, leave.signal).then(() => ended.push('left')),
    ];
    await node.clock.advance(9_000);
    expect(ended).toEqual([]);
    leave.abort();
    await node.clock.advance(1_000);
    await Promise.all(waits);
    expect(ended).toEqual(['left', 'long']);
    const last = node.runtime.awaitTurn(at, never);
    await node.clock.advance(0);
    await node.stop();
    await last;
    expect(node.clock.sleeping()).toBe(0);
  });

  test('a repeat waits for its own turn like the first call', async () => {
    const node = await createNode();
    await node.start();
    const first = await node.sendTask(textMessage('m1', 'hello'));
    const again = await node.sendTask(textMessage('m1', 'hello'));
    const waits = [first, again].map((sent) => node.runtime.awaitTurn({ ...sent, after: sent.messageSeq }, never));
    const message = question;
    await node.settle(await node.engine.startedRun(1), { kind: 'interrupted', state: 'input-required', message });
    await Promise.all(waits);
    const answered = await node.sendTask(textMessage('m2', 'this', { taskId: first.task.id }));
    const late = await node.sendTask(textMessage('m1', 'hello'));
    await node.runtime.awaitTurn({ ...late, after: late.messageSeq }, never);
    let isOver = false;
    const second = node.runtime.awaitTurn({ ...answered, after: answered.messageSeq }, never).then(() => {
      isOver = true;
    });
    await node.clock.advance(0);
    expect(isOver).toBe(false);
    await node.settle(await node.engine.startedRun(2), { kind: 'succeeded' });
    await second;
    await node.stop();
  });

  test('500 at once each find the state that the store has', async () => {
    const node = await createNode({ slots: 500 });
    await node.start();
    const outcomes = await Promise.all(
      Array.from({ length: 500 }, async (_item, at) => {
        const sent = await node.sendTask(`${at}`);
        const wait = node.runtime.awaitTurn({ ...sent, after: sent.messageSeq }, never);
        const run = node.engine.started.find(({ grant }) => grant.taskNo === sent.taskNo);
        await node.settle(run!.grant, { kind: 'succeeded' });
        await wait;
        return (await node.store.readView(sent.taskNo))?.task.state;
      }),
    );
    expect(new Set(outcomes)).toEqual(new Set(['completed']));
    await node.stop();
  });
});
