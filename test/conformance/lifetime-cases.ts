import { describe, expect, test } from 'vitest';
import type { TaskState } from '../../src/model/task.ts';
import { AGENT, chunk, eventFacts, nextRunWrite, parkWrite, SCOPE, type StoreWorld, status, text } from './builders.ts';
import type { OpenWorld } from './store-suite.ts';

export function describeLifetime(open: OpenWorld): void {
  describe('the store itself', () => {
    describeIdentity(open);
    describeCounts(open);
    describeOperatorList(open);
    describeCopies(open);
    describeEnd(open);
  });
}

function describeIdentity(open: OpenWorld): void {
  test('has an identity that stays', async () => {
    const world = await open();
    const installation = await world.store.installation();
    expect(installation.id).toMatch(/^[A-Za-z0-9-]{8,40}$/);
    expect(installation.incarnation).toMatch(/^[A-Za-z0-9]{1,40}$/);
    expect(installation.schemaVersion).toBeGreaterThanOrEqual(1);
    expect(await world.store.installation()).toEqual(installation);
  });

  test('tells its time', async () => {
    const world = await open();
    expect(await world.store.now()).toBe(world.clock.now());
    await world.clock.advance('1h');
    expect(await world.store.now()).toBe(world.clock.now());
  });

  test('keeps what was written when it is opened again', async (context) => {
    const world = await open();
    if (open.differs.reopen !== undefined) return context.skip(open.differs.reopen);
    const installation = await world.store.installation();
    const { task, grant } = await world.start();
    await world.store.append(grant, { emitNo: 0, facts: eventFacts(chunk(grant)) });
    const before = await world.everything(task);
    await world.store.close();
    const again = await open.again(world);
    expect(await again.installation()).toEqual(installation);
    const reopened = new (world.constructor as typeof StoreWorld)(again, world.clock);
    expect(await reopened.everything(task)).toEqual(before);
    expect(await again.append(grant, { emitNo: 0, facts: eventFacts(chunk(grant)) })).toMatchObject({
      kind: 'repeated',
    });
  });
}

function describeCounts(open: OpenWorld): void {
  const none: Record<TaskState, number> = {
    submitted: 0,
    working: 0,
    completed: 0,
    failed: 0,
    canceled: 0,
    'input-required': 0,
    rejected: 0,
    'auth-required': 0,
  };

  test('counts nothing while it is empty', async () => {
    const world = await open();
    expect(await world.store.stats()).toEqual({
      tasks: none,
      runs: { queued: 0, leased: 0, waiting: 0 },
      sessions: 0,
      events: 0,
    });
  });

  test('counts tasks by state, active runs, sessions and events', async () => {
    const world = await open();
    const { task } = await world.submit();
    await world.submit({ contextId: task.contextId });
    await world.start();
    const { grant: parked } = await world.start();
    await world.settle(parked, parkWrite(parked, { wakeKey: 'ask:x' }));
    await world.complete();
    const { grant: lost, task: lostTask } = await world.start();
    await world.command(lostTask, nextRunWrite(lost, 'lost', world.run()));
    expect(await world.store.stats()).toEqual({
      tasks: { ...none, submitted: 2, working: 2, 'input-required': 1, completed: 1 },
      runs: { queued: 3, leased: 1, waiting: 1 },
      sessions: 5,
      events: 3 + 3 + 5 + 6 + 7 + 6,
    });
  });
}

function describeOperatorList(open: OpenWorld): void {
  test('lists the tasks of every agent and scope, the newest first', async () => {
    const world = await open();
    const { task: first } = await world.submit();
    const { task: second } = await world.start();
    const ids = async (query: Parameters<typeof world.store.listTasks>[0]) =>
      (await world.store.listTasks(query)).map((task) => task.id);
    expect(await ids({ itemsMax: 9 })).toEqual([second.id, first.id]);
    expect(await ids({ itemsMax: 1 })).toEqual([second.id]);
    expect(await ids({ itemsMax: 9, state: 'submitted' })).toEqual([first.id]);
    expect(await ids({ itemsMax: 9, agent: first.agent, state: 'working' })).toEqual([second.id]);
    expect(await ids({ itemsMax: 9, agent: 'nobody' as typeof first.agent })).toEqual([]);
  });
}

/** Changes everything that can be changed in a value; a frozen one says no, which is as good. */
function deface(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    deface((value as Record<string, unknown>)[key]);
    try {
      (value as Record<string, unknown>)[key] = value instanceof Uint8Array ? 7 : 'defaced';
    } catch {
      // Frozen: nobody can change it, so nobody needs a copy.
    }
  }
}

function describeCopies(open: OpenWorld): void {
  test('copies what it is given', async () => {
    const world = await open();
    const parts = [text('x'), { kind: 'raw' as const, raw: Uint8Array.from([1, 2, 3]) }];
    const request = structuredClone({
      ...world.submitRequest({ parts, input: Uint8Array.from([1]), more: { metadata: { a: { b: 1 } } } }),
      grantTo: await world.worker(),
    });
    const result = await world.scoped().submit(request);
    if (result.kind !== 'created' || result.grant === undefined) throw new Error(result.kind);
    const { task, grant } = result;
    const event = structuredClone(chunk(grant, { parts, header: { name: 'n', metadata: { c: [1] } } }));
    const journal = {
      turnNo: 1 as never,
      key: 'ask:x',
      kind: 'ask' as const,
      state: 'open' as const,
      question: { q: [1] },
    };
    const facts = [
      { kind: 'event' as const, event },
      { kind: 'journal' as const, entry: structuredClone(journal) },
    ];
    await world.store.append(grant, { emitNo: 0, facts });
    const copy = structuredClone(await world.everything(task));
    deface(request);
    deface(facts);
    expect(await world.everything(task)).toEqual(copy);
    expect((await world.events(task))[5]).toMatchObject({ parts });
  });

  test('gives away copies', async () => {
    const world = await open();
    const raw = { kind: 'raw' as const, raw: Uint8Array.from([1, 2, 3]) };
    const { task, grant } = await world.start({ parts: [raw], input: Uint8Array.from([5]) });
    const { events } = await world.store.append(grant, {
      emitNo: 0,
      facts: eventFacts(chunk(grant, { parts: [raw] })),
    });
    const named = structuredClone(task);
    const before = structuredClone(await world.everything(named));
    const material = structuredClone(await world.store.readTurn(grant));
    deface(events);
    deface(task);
    deface(await world.store.readTurn(grant));
    deface(await world.everything(named));
    deface(await world.scoped(AGENT, SCOPE).listTasks({ pageItems: 5 }));
    deface(await world.scoped(AGENT, SCOPE).listSessions({ pageItems: 5 }));
    expect(await world.everything(named)).toEqual(before);
    expect(await world.store.readTurn(grant)).toEqual(material);
  });
}

function describeEnd(open: OpenWorld): void {
  test('closes twice, and refuses afterwards', async () => {
    const world = await open();
    const { task } = await world.submit();
    await Promise.all([world.store.close(), world.store.close()]);
    await world.store.close();
    const write = { events: [status('working')] };
    await expect(world.store.command(task.no, task.headSeq, write)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(world.scoped().readTask(task.id)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(world.scoped().submit(world.submitRequest())).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('ends what is in hand before it closes', async (context) => {
    const world = await open();
    const submits = Array.from({ length: 5 }, () => world.submit());
    const closed = world.store.close();
    const results = await Promise.allSettled(submits);
    await closed;
    const created = results.filter(({ status }) => status === 'fulfilled').length;
    if (open.differs.reopen !== undefined) return context.skip(open.differs.reopen);
    const again = await open.again(world);
    expect(await again.scoped(AGENT, SCOPE).countTasks({})).toBe(created);
  });
}
