import { describe, expect, test } from 'vitest';
import type { Fence, MessageId } from '../../src/model/ids.ts';
import type { MemoryId, MemoryWrite } from '../../src/store/memory-contract.ts';
import { AGENT, fingerprintOf, OTHER_AGENT, OTHER_SCOPE, REFUSED, type StoreWorld, type Worker } from './builders.ts';
import type { OpenWorld } from './store-suite.ts';

const messageId = 'm' as MessageId;
const fingerprint = fingerprintOf('a');
const REPLY = '{"messageId":"r","role":"agent","parts":[]}';

const remember = (id: string): MemoryWrite => ({ kind: 'remember', memory: { id: id as MemoryId, text: `the ${id}` } });

const begin = (world: StoreWorld, worker: Worker) =>
  world.scoped().beginReply({ messageId, fingerprint, workerNo: worker.workerNo });

async function begun(world: StoreWorld, worker: Worker): Promise<Fence> {
  const result = await begin(world, worker);
  if (result.kind !== 'begun') throw new Error(result.kind);
  return result.fence;
}

const finish = (world: StoreWorld, fence: Fence, memoryWrites: readonly MemoryWrite[] = []) =>
  world.scoped().finishReply({ messageId, fence, reply: REPLY, keepMs: 10_000, memoryWrites });

export function describeReplies(open: OpenWorld): void {
  describe('replies', () => {
    describeHolders(open);
    describeTakeOver(open);
    describeRetention(open);
  });
}

function describeHolders(open: OpenWorld): void {
  test('a message is held by one caller, and known to all while it runs', async () => {
    const world = await open();
    const worker = await world.worker();
    expect(await world.scoped().findMessage(messageId)).toBeUndefined();
    const results = await Promise.all(Array.from({ length: 20 }, () => begin(world, worker)));
    expect(results.filter(({ kind }) => kind === 'begun')).toHaveLength(1);
    const executing = { fingerprint, state: 'executing' };
    expect(results.filter(({ kind }) => kind === 'known')).toEqual(
      Array.from({ length: 19 }, () => ({ kind: 'known', message: executing })),
    );
    expect(await world.scoped().findMessage(messageId)).toEqual(executing);
    expect(await world.scoped().submit(world.submitRequest({ messageId }))).toEqual({
      kind: 'repeated',
      message: executing,
    });
  });

  test('of a reply and a task at once one takes the message', async () => {
    const world = await open();
    const worker = await world.worker();
    const results = await Promise.all([
      world.scoped().submit(world.submitRequest({ messageId })),
      begin(world, worker),
      world.scoped().submit(world.submitRequest({ messageId })),
      begin(world, worker),
    ]);
    expect(results.filter(({ kind }) => kind === 'begun' || kind === 'created')).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === 'known' || kind === 'repeated')).toHaveLength(3);
  });

  test('its reply and its memories are stored together', async () => {
    const world = await open();
    const worker = await world.worker();
    const fence = await begun(world, worker);
    expect(await finish(world, fence, [remember('a'), remember('b')])).toBe(true);
    const message = { fingerprint, state: 'reply', reply: REPLY };
    expect(await world.scoped().findMessage(messageId)).toEqual(message);
    expect(await begin(world, worker)).toEqual({ kind: 'known', message });
    expect(await world.scoped().submit(world.submitRequest({ messageId }))).toEqual({ kind: 'repeated', message });
    expect(await world.scoped().memories.list({ itemsMax: 9 })).toHaveLength(2);
    expect(await finish(world, fence, [remember('c')])).toBe(false);
    expect(await world.scoped().memories.list({ itemsMax: 9 })).toHaveLength(2);
  });

  test('a memory that cannot be written leaves the reply unwritten', async () => {
    const world = await open();
    const fence = await begun(world, await world.worker());
    const grant: MemoryWrite = { kind: 'grant', id: 'absent' as MemoryId, to: OTHER_SCOPE };
    await expect(finish(world, fence, [remember('a'), grant])).rejects.toMatchObject(REFUSED);
    expect(await world.scoped().findMessage(messageId)).toMatchObject({ state: 'executing' });
    expect(await world.scoped().memories.list({ itemsMax: 9 })).toEqual([]);
    expect(await finish(world, fence, [remember('a')])).toBe(true);
  });

  test('a message that made a task is known as that task', async () => {
    const world = await open();
    const { task } = await world.submit({ messageId });
    expect(await begin(world, await world.worker())).toMatchObject({
      kind: 'known',
      message: { state: 'task', taskId: task.id, turnNo: 1, messageSeq: 2 },
    });
  });

  test('is another message in another scope and for another agent', async () => {
    const world = await open();
    const worker = await world.worker();
    await begun(world, worker);
    for (const other of [world.scoped(AGENT, OTHER_SCOPE), world.scoped(OTHER_AGENT)]) {
      const request = { messageId, fingerprint, workerNo: worker.workerNo };
      expect((await other.beginReply(request)).kind).toBe('begun');
    }
  });

  test('a reply that failed is forgotten, so that a repeat runs it again', async () => {
    const world = await open();
    const worker = await world.worker();
    const fence = await begun(world, worker);
    await world.scoped().dropReply({ messageId, fence: (fence + 1) as Fence });
    expect(await world.scoped().findMessage(messageId)).toMatchObject({ state: 'executing' });
    await world.scoped(AGENT, OTHER_SCOPE).dropReply({ messageId, fence });
    expect(await world.scoped().findMessage(messageId)).toMatchObject({ state: 'executing' });
    await world.scoped().dropReply({ messageId, fence });
    expect(await world.scoped().findMessage(messageId)).toBeUndefined();
    expect(await finish(world, fence)).toBe(false);
    await world.scoped().dropReply({ messageId, fence });
    const again = await begun(world, worker);
    expect(await finish(world, again)).toBe(true);
    await world.scoped().dropReply({ messageId, fence: again });
    expect(await world.scoped().findMessage(messageId)).toMatchObject({ state: 'reply' });
  });
}

function describeTakeOver(open: OpenWorld): void {
  test('a row that was begun in doubt is dropped by the worker it was begun for, and by no other', async () => {
    const world = await open();
    const [worker, other] = [await world.worker(), await world.worker()];
    const fence = await begun(world, worker);
    await world.scoped().dropReply({ messageId, workerNo: other.workerNo });
    expect((await begin(world, other)).kind).toBe('known');
    await world.scoped().dropReply({ messageId, workerNo: worker.workerNo });
    expect(await world.scoped().findMessage(messageId)).toBeUndefined();
    expect(await finish(world, fence)).toBe(false);
    const again = await begun(world, other);
    await world.scoped().dropReply({ messageId, workerNo: worker.workerNo });
    expect(await finish(world, again)).toBe(true);
    await world.scoped().dropReply({ messageId, workerNo: other.workerNo });
    expect(await world.scoped().findMessage(messageId)).toMatchObject({ state: 'reply' });
  });

  test('the row of a dead worker is taken over with a larger fence', async () => {
    const world = await open();
    const dying = await world.worker(1_000);
    const living = await world.worker(60_000);
    const first = await begun(world, dying);
    await world.clock.advance(1_001);
    expect((await begin(world, living)).kind).toBe('known');
    await world.store.buryWorkers({ all: false });
    const second = await begun(world, living);
    expect(second).toBeGreaterThan(first);
    expect((await begin(world, living)).kind).toBe('known');
    expect(await finish(world, first, [remember('a')])).toBe(false);
    expect(await world.scoped().memories.list({ itemsMax: 9 })).toEqual([]);
    await world.scoped().dropReply({ messageId, fence: first });
    expect(await finish(world, second, [remember('b')])).toBe(true);
    expect(await world.scoped().memories.list({ itemsMax: 9 })).toMatchObject([{ id: 'b' }]);
  });

  test('of 20 that take over at once one holds it', async () => {
    const world = await open();
    const dying = await world.worker();
    await begun(world, dying);
    await world.store.retireWorker(dying.workerNo);
    const living = await world.worker();
    const results = await Promise.all(Array.from({ length: 20 }, () => begin(world, living)));
    expect(results.filter(({ kind }) => kind === 'begun')).toHaveLength(1);
  });
}

function describeRetention(open: OpenWorld): void {
  test('a reply is kept its time and then counts as unknown', async () => {
    const world = await open();
    const worker = await world.worker(1e9);
    await finish(world, await begun(world, worker));
    await world.clock.advance(9_999);
    expect(await world.scoped().findMessage(messageId)).toMatchObject({ state: 'reply' });
    await world.clock.advance(2);
    expect(await world.scoped().findMessage(messageId)).toBeUndefined();
    const again = await begun(world, worker);
    expect(await finish(world, again)).toBe(true);
  });

  test('an expired reply does not stand in the way of a task', async () => {
    const world = await open();
    await finish(world, await begun(world, await world.worker()));
    await world.clock.advance(10_001);
    const { task } = await world.submit({ messageId });
    expect(await world.scoped().findMessage(messageId)).toMatchObject({ state: 'task', taskId: task.id });
  });

  test('an expired reply gives way to one of 20 that come at once', async () => {
    const world = await open();
    const worker = await world.worker(1e9);
    await finish(world, await begun(world, worker));
    await world.clock.advance(10_001);
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        index % 2 === 0 ? begin(world, worker) : world.scoped().submit(world.submitRequest({ messageId })),
      ),
    );
    expect(results.filter(({ kind }) => kind === 'begun' || kind === 'created')).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === 'known' || kind === 'repeated')).toHaveLength(19);
  });

  test('an expired reply does not stand in the way of a command', async () => {
    const world = await open();
    await finish(world, await begun(world, await world.worker()));
    await world.clock.advance(10_001);
    const { task } = await world.submit();
    const turnNo = 1 as never;
    const message = { messageId, role: 'user' as const, parts: [] };
    const result = await world.scoped().command(task.id, task.headSeq, {
      events: [{ kind: 'message-received', message, turnNo }],
      idempotency: { messageId, fingerprint, turnNo },
    });
    expect(result.kind).toBe('written');
    expect(await world.scoped().findMessage(messageId)).toMatchObject({ state: 'task', messageSeq: 4 });
  });
}
