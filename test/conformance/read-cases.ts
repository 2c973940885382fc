import { describe, expect, test } from 'vitest';
import type { Seq, TaskNo, TurnNo } from '../../src/model/ids.ts';
import type { Message } from '../../src/model/message.ts';
import { emptyContent, foldContent } from '../../src/model/task-fold.ts';
import {
  agentMessage,
  chunk,
  endWrite,
  eventFacts,
  received,
  type StoreWorld,
  status,
  text,
  userMessage,
} from './builders.ts';
import type { OpenWorld } from './store-suite.ts';

export function describeReads(open: OpenWorld): void {
  describe('reads', () => {
    describeSnapshots(open);
    describeEvents(open);
    describeHeads(open);
    describeTurnMaterial(open);
  });
}

/** A task with two users' messages and three status messages, the last of them shown. */
async function talk(world: StoreWorld) {
  const { task, grant } = await world.start();
  await world.store.append(grant, { emitNo: 0, facts: eventFacts(status('working', agentMessage('s1', 'one'))) });
  const turn = world.turn({ turnNo: 2 as TurnNo, messageOrdinal: 1 });
  await world.command(task, {
    events: [received(userMessage(turn.messageId), turn.turnNo)],
    turns: [{ kind: 'enqueue', turn }],
  });
  await world.store.append(grant, {
    emitNo: 1,
    facts: eventFacts(
      status('working', agentMessage('s2', 'two')),
      status('working'),
      chunk(grant),
      status('working', agentMessage('s3', 'three')),
    ),
  });
  return { task, grant };
}

const ids = (messages: readonly Message[]): string[] => messages.map(({ messageId }) => messageId);

function describeSnapshots(open: OpenWorld): void {
  test('a snapshot carries its own head and equals the fold of the log', async () => {
    const world = await open();
    const { task } = await talk(world);
    const snapshot = await world.scoped().readSnapshot(task.id, { artifacts: true });
    const events = await world.events(task);
    expect(snapshot?.task.headSeq).toBe(events.length);
    expect(snapshot?.content).toEqual(events.reduce(foldContent, emptyContent));
    expect(snapshot?.content.statusMessage).toEqual(agentMessage('s3', 'three'));
    expect(snapshot?.content.history).toHaveLength(4);
  });

  test('the history is the newest messages that were asked for', async () => {
    const world = await open();
    const { task } = await talk(world);
    const whole = await world.scoped().readSnapshot(task.id, { artifacts: false });
    const all = ids(whole?.content.history ?? []);
    expect(all).toEqual([expect.any(String), 's1', expect.any(String), 's2']);
    for (const [historyMax, expected] of [
      [0, []],
      [1, all.slice(-1)],
      [2, all.slice(-2)],
      [3, all.slice(-3)],
      [4, all],
      [50, all],
    ] as const) {
      const snapshot = await world.scoped().readSnapshot(task.id, { historyMax, artifacts: false });
      expect(ids(snapshot?.content.history ?? [])).toEqual(expected);
      expect(snapshot?.content.statusMessage?.messageId).toBe('s3');
    }
  });

  test('artifacts are read where they are wanted', async () => {
    const world = await open();
    const { task } = await talk(world);
    const without = await world.scoped().readSnapshot(task.id, { artifacts: false });
    expect(without?.content.artifacts).toEqual([]);
    const artifacts = (await world.scoped().readSnapshot(task.id, { artifacts: true }))?.content.artifacts;
    expect(artifacts).toHaveLength(1);
  });

  test('a snapshot taken while a run appends is whole as of its head', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const writing = (async () => {
      for (let count = 0; count < 30; count += 1) {
        const facts = eventFacts(chunk(grant, { append: count > 0, parts: [text(String(count))] }), status('working'));
        await world.store.append(grant, { emitNo: count * 2, facts });
      }
    })();
    for (let count = 0; count < 15; count += 1) {
      const snapshot = await world.scoped().readSnapshot(task.id, { artifacts: true });
      const chunks = snapshot?.content.artifacts[0]?.parts ?? [];
      expect(snapshot?.task.headSeq).toBe(5 + 2 * chunks.length);
      expect(chunks).toEqual(chunks.map((_, index) => text(String(index))));
    }
    await writing;
  });
}

function describeEvents(open: OpenWorld): void {
  const read = (world: StoreWorld, taskNo: TaskNo, after: number, eventsMax = 100, bytesMax = 1e6) =>
    world.store.readEvents(taskNo, { after: after as Seq, eventsMax, bytesMax });

  test('are read after a place, in order, up to a count', async () => {
    const world = await open();
    const { task } = await talk(world);
    const all = await world.events(task);
    expect(await read(world, task.no, 0)).toEqual(all);
    expect(await read(world, task.no, 4, 3)).toEqual(all.slice(4, 7));
    expect(await read(world, task.no, all.length)).toEqual([]);
    expect(await read(world, task.no, all.length + 5)).toEqual([]);
  });

  test('are read up to the event that passes the bytes, and always one', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const long = chunk(grant, { parts: [text('x'.repeat(10_000))] });
    await world.store.append(grant, { emitNo: 0, facts: eventFacts(long, long, long, long, long) });
    expect(await read(world, task.no, 5, 100, 1)).toHaveLength(1);
    expect(await read(world, task.no, 5, 100, 25_000)).toHaveLength(3);
    expect(await read(world, task.no, 5, 2, 25_000)).toHaveLength(2);
  });

  test('of a task that is not there are undefined', async () => {
    const world = await open();
    expect(await read(world, 987_654 as TaskNo, 0)).toBeUndefined();
    expect(await world.store.readView(987_654 as TaskNo)).toBeUndefined();
  });
}

function describeHeads(open: OpenWorld): void {
  test('are told of tasks that moved, and of those that are gone', async () => {
    const world = await open();
    const { task: still } = await world.submit();
    const { task: moved } = await world.submit();
    const { task: canceling } = await world.start();
    await world.command(moved, { events: [status('working')] });
    await world.command(canceling, { events: [{ kind: 'cancel-requested', by: 'ann' }] });
    const gone = 987_654 as TaskNo;
    const heads = await world.store.readHeads([
      { taskNo: still.no, seq: still.headSeq },
      { taskNo: moved.no, seq: moved.headSeq },
      { taskNo: canceling.no, seq: 0 as Seq },
      { taskNo: gone, seq: 5 as Seq },
    ]);
    expect([...heads].sort((a, b) => a.taskNo - b.taskNo)).toEqual([
      { taskNo: moved.no, headSeq: 4, cancelRequested: false },
      { taskNo: canceling.no, headSeq: 6, cancelRequested: true },
      { taskNo: gone, headSeq: 0, cancelRequested: false },
    ]);
    expect(await world.store.readHeads([])).toEqual([]);
  });

  test('are told once for a task that is asked for twice with different places', async () => {
    const world = await open();
    const { task } = await world.submit();
    const heads = await world.store.readHeads([
      { taskNo: task.no, seq: task.headSeq },
      { taskNo: task.no, seq: 1 as Seq },
    ]);
    expect(heads).toEqual([{ taskNo: task.no, headSeq: 3, cancelRequested: false }]);
  });
}

function describeTurnMaterial(open: OpenWorld): void {
  test('is what an executor starts from', async () => {
    const world = await open();
    const parts = [text('make it so')];
    const { task, grant } = await world.start({ parts });
    await world.store.append(grant, {
      emitNo: 0,
      facts: [
        ...eventFacts(chunk(grant, { parts: [text('a')] }), status('working', agentMessage('s1', 'busy'))),
        {
          kind: 'journal',
          entry: { turnNo: grant.turn.turnNo, key: 'step:a', kind: 'step', state: 'done', result: '1' },
        },
      ],
    });
    const material = await world.store.readTurn(grant);
    expect(material.task.headSeq).toBe(7);
    expect(material.message).toEqual((await world.events(task))[1]);
    expect(material.message.message.parts).toEqual(parts);
    expect(material.content).toEqual((await world.events(task)).reduce(foldContent, emptyContent));
    expect(material.journal).toEqual([{ key: 'step:a', kind: 'step', state: 'done', result: '1' }]);
    expect(material).not.toHaveProperty('input');
  });

  test('and what was read before stays as it was', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const before = await world.everything(task);
    const copy = structuredClone(before);
    const material = await world.store.readTurn(grant);
    await world.settle(grant, endWrite(grant, 'completed'));
    expect(before).toEqual(copy);
    expect(material.task.state).toBe('working');
  });
}
