import { describe, expect, test } from 'vitest';
import type { MessageId, Seq, TaskId, TaskNo } from '../../src/model/ids.ts';
import type { TaskWrite } from '../../src/model/task-write.ts';
import {
  AGENT,
  agentMessage,
  endWrite,
  eventFacts,
  fingerprintOf,
  nextRunWrite,
  OTHER_AGENT,
  OTHER_SCOPE,
  parkWrite,
  received,
  status,
  userMessage,
} from './builders.ts';
import type { OpenWorld } from './store-suite.ts';

const CANCEL: TaskWrite = { events: [{ kind: 'cancel-requested', by: 'issuer|ann' }] };

export function describeCommands(open: OpenWorld): void {
  describe('command', () => {
    describeCompareAndSet(open);
    describeRememberedCommands(open);
    describeFence(open);
    describeLocalGrants(open);
  });
}

function describeCompareAndSet(open: OpenWorld): void {
  test('writes on the head it was decided on', async () => {
    const world = await open();
    const { task } = await world.submit();
    await world.clock.advance(1_000);
    const result = await world.scoped().command(task.id, task.headSeq, CANCEL);
    const at = world.clock.now();
    expect(result).toEqual({
      kind: 'written',
      task: { ...task, headSeq: 4, headAt: at, cancelAt: at, cancelBy: 'issuer|ann' },
      events: [{ kind: 'cancel-requested', by: 'issuer|ann', seq: 4, at }],
    });
    expect(await world.events(task)).toMatchObject([{ seq: 1 }, { seq: 2 }, { seq: 3 }, { seq: 4, at }]);
  });

  test.each([-1, 1])('on another head (%i) has moved and writes nothing', async (offset) => {
    const world = await open();
    const { task } = await world.submit();
    const before = await world.everything(task);
    const headSeq = (task.headSeq + offset) as Seq;
    expect(await world.scoped().command(task.id, headSeq, CANCEL)).toEqual({ kind: 'moved' });
    expect(await world.store.command(task.no, headSeq, CANCEL)).toEqual({ kind: 'moved' });
    expect(await world.everything(task)).toEqual(before);
  });

  test('of 20 at once on one head writes one', async () => {
    const world = await open();
    const { task } = await world.submit();
    const results = await Promise.all(
      Array.from({ length: 20 }, () => world.scoped().command(task.id, task.headSeq, CANCEL)),
    );
    expect(results.filter(({ kind }) => kind === 'written')).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === 'moved')).toHaveLength(19);
    expect(await world.events(task)).toHaveLength(4);
  });

  test('decided on the same head as an append: the later of the two finds it moved', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    await world.store.append(grant, { emitNo: 0, facts: eventFacts(status('working')) });
    expect(await world.scoped().command(task.id, task.headSeq, CANCEL)).toEqual({ kind: 'moved' });
    expect((await world.command(task, CANCEL)).cancelBy).toBe('issuer|ann');
  });

  test('on a task that is not there is gone', async () => {
    const world = await open();
    const { task } = await world.submit();
    const gone = { kind: 'gone' };
    expect(await world.scoped().command('absent' as TaskId, task.headSeq, CANCEL)).toEqual(gone);
    expect(await world.scoped(AGENT, OTHER_SCOPE).command(task.id, task.headSeq, CANCEL)).toEqual(gone);
    expect(await world.scoped(OTHER_AGENT).command(task.id, task.headSeq, CANCEL)).toEqual(gone);
    expect(await world.store.command(987_654 as TaskNo, task.headSeq, CANCEL)).toEqual(gone);
    expect(await world.events(task)).toHaveLength(3);
  });

  test('keeps a log whose times never run backwards, on a clock that does', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    world.clock.set(task.headAt - 3_600_000);
    await world.store.append(grant, { emitNo: 0, facts: eventFacts(status('working')) });
    await world.command(task, CANCEL);
    const events = await world.events(task);
    expect(events.map(({ at }) => at)).toEqual(events.map(() => task.headAt));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index + 1));
    world.clock.set(task.headAt + 5);
    expect(await world.command(task, { events: [status('working')] })).toMatchObject({ stateAt: task.headAt + 5 });
  });
}

function describeRememberedCommands(open: OpenWorld): void {
  const answer = (messageId: MessageId): TaskWrite => ({
    events: [
      { kind: 'question-answered', askId: 'ask:x', how: 'answered' },
      received(userMessage(messageId), 1 as never),
      status('working'),
    ],
    idempotency: { messageId, fingerprint: fingerprintOf('c'), turnNo: 1 as never },
  });

  test('remembers its message, with the place of that message', async () => {
    const world = await open();
    const { task } = await world.submit();
    const messageId = 'answer' as MessageId;
    await world.scoped().command(task.id, task.headSeq, answer(messageId));
    expect(await world.scoped().findMessage(messageId)).toEqual({
      fingerprint: fingerprintOf('c'),
      state: 'task',
      taskId: task.id,
      taskNo: task.no,
      turnNo: 1,
      messageSeq: 5,
    });
  });

  test('with a known message is repeated and writes nothing', async () => {
    const world = await open();
    const { task: other } = await world.submit({ messageId: 'answer' as MessageId });
    const { task } = await world.submit();
    const before = await world.everything(task);
    const result = await world.scoped().command(task.id, task.headSeq, answer('answer' as MessageId));
    expect(result).toEqual({
      kind: 'repeated',
      message: {
        fingerprint: fingerprintOf('a'),
        state: 'task',
        taskId: other.id,
        taskNo: other.no,
        turnNo: 1,
        messageSeq: 2,
      },
    });
    expect(await world.everything(task)).toEqual(before);
  });

  test('of 20 at once with one message writes one', async () => {
    const world = await open();
    const { task } = await world.submit();
    const results = await Promise.all(
      Array.from({ length: 20 }, () => world.scoped().command(task.id, task.headSeq, answer('answer' as MessageId))),
    );
    expect(results.filter(({ kind }) => kind === 'written')).toHaveLength(1);
    for (const { kind } of results) expect(['written', 'moved', 'repeated']).toContain(kind);
    expect(await world.events(task)).toHaveLength(6);
  });

  test('of submits and commands at once with one message writes one', async () => {
    const world = await open();
    const { task } = await world.submit();
    const messageId = 'both' as MessageId;
    const results = await Promise.all([
      world.scoped().command(task.id, task.headSeq, answer(messageId)),
      world.scoped().submit(world.submitRequest({ messageId })),
      world.scoped().submit(world.submitRequest({ messageId })),
    ]);
    expect(results.filter(({ kind }) => kind === 'written' || kind === 'created')).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === 'repeated')).toHaveLength(2);
  });
}

function describeFence(open: OpenWorld): void {
  test('leaves the fence alone, so that the run goes on', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    expect((await world.command(task, CANCEL)).fence).toBe(grant.fence);
    const result = await world.store.append(grant, { emitNo: 0, facts: eventFacts(status('working')) });
    expect(result).toMatchObject({ kind: 'written', headSeq: 7 });
  });

  test('with revokeFence ends the right of whoever held the task', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const after = await world.command(task, { ...CANCEL, revokeFence: true });
    expect(after.fence).toBe(grant.fence + 1);
    const before = await world.everything(task);
    const batch = { emitNo: 0, facts: eventFacts(status('working')) };
    await expect(world.store.append(grant, batch)).rejects.toMatchObject({ code: 'lease_lost' });
    const settle = { ...batch, headSeq: after.headSeq, write: endWrite(grant, 'completed') };
    await expect(world.store.settle(grant, settle)).rejects.toMatchObject({ code: 'lease_lost' });
    expect(await world.everything(task)).toEqual(before);
  });
}

function describeLocalGrants(open: OpenWorld): void {
  test('with grantTo leases the run it queues, as a claim would', async () => {
    const world = await open();
    const { task, grant: first } = await world.start();
    await world.settle(first, parkWrite(first, { wakeKey: 'ask:x' }));
    const worker = await world.worker();
    const run = world.run();
    const write = nextRunWrite(first, 'parked', run);
    const view = await world.view(first);
    const result = await world.scoped().command(task.id, view.task.headSeq, {
      ...write,
      events: [...write.events, status('working', agentMessage('m', 'going on'))],
      grantTo: worker,
    });
    if (result.kind !== 'written') throw new Error(result.kind);
    expect(result.events.map(({ kind }) => kind)).toEqual(['run-settled', 'status-changed', 'run-started']);
    expect(result.grant).toMatchObject({
      taskNo: task.no,
      taskId: task.id,
      runId: run.id,
      attempt: 2,
      workerNo: worker.workerNo,
      headSeq: result.task.headSeq,
      turn: { turnNo: 1, attempts: 2 },
      events: result.events.slice(2),
    });
    expect(result.grant?.fence).toBe(result.task.fence);
    expect(result.task.fence).toBeGreaterThan(view.task.fence);
    expect(result.task).toMatchObject({ state: 'working', emitNo: 0 });
    expect(await world.claim(worker)).toEqual([]);
    const grant = result.grant as NonNullable<typeof result.grant>;
    const append = await world.store.append(grant, { emitNo: 0, facts: eventFacts(status('working')) });
    expect(append.kind).toBe('written');
  });
}
