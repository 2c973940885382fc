import { describe, expect, test } from 'vitest';
import type { DeadlineKind } from '../../src/model/task.ts';
import type { NewDeadline } from '../../src/model/task-write.ts';
import { AGENT, chunk, endWrite, eventFacts, status } from './builders.ts';
import type { OpenWorld } from './store-suite.ts';

const inMs = (kind: DeadlineKind, ms: number): NewDeadline => ({ kind, inMs: ms });
const working = { events: [status('working')] };

export function describeDeadlines(open: OpenWorld): void {
  describe('deadlines', () => {
    describeNearest(open);
    describeSignsOfLife(open);
    describeDue(open);
  });
}

function describeNearest(open: OpenWorld): void {
  test('of a new task is the nearer of its own and the total', async () => {
    const world = await open();
    const now = world.clock.now();
    const at = (kind: DeadlineKind, ms: number) => ({ kind, at: now + ms });
    const nearer = await world.submit({ deadline: inMs('queued', 500), totalMs: 9_000 });
    expect(nearer.task).toMatchObject({ deadline: at('queued', 500), totalAt: now + 9_000 });
    const farther = await world.submit({ deadline: inMs('queued', 9_500), totalMs: 9_000 });
    expect(farther.task).toMatchObject({ deadline: at('total', 9_000), totalAt: now + 9_000 });
    const total = await world.submit({ totalMs: 100 });
    expect(total.task).toMatchObject({ deadline: at('total', 100), totalAt: now + 100 });
    const own = await world.submit({ deadline: inMs('queued', 500) });
    expect(own.task.deadline).toEqual(at('queued', 500));
    expect(own.task.totalAt).toBeUndefined();
    const none = await world.submit();
    expect(none.task.deadline).toBeUndefined();
    for (const { task } of [nearer, farther, total, own, none]) {
      expect((await world.scoped().readTask(task.id))?.task).toEqual(task);
    }
  });

  test('of a write: kept, taken away, or replaced, and never beyond the total', async () => {
    const world = await open();
    const { task } = await world.submit({ deadline: inMs('queued', 500), totalMs: 9_000 });
    const total = { kind: 'total', at: task.totalAt };
    expect((await world.command(task, working)).deadline).toEqual(task.deadline);
    expect((await world.command(task, { ...working, deadline: 'keep' })).deadline).toEqual(task.deadline);
    expect((await world.command(task, { ...working, deadline: 'none' })).deadline).toEqual(total);
    await world.clock.advance(8_000);
    expect((await world.command(task, { ...working, deadline: inMs('cancel', 500) })).deadline).toEqual({
      kind: 'cancel',
      at: world.clock.now() + 500,
    });
    expect((await world.command(task, { ...working, deadline: inMs('idle', 2_000) })).deadline).toEqual(total);
  });

  test('without a total can be taken away', async () => {
    const world = await open();
    const { task } = await world.submit({ deadline: inMs('queued', 500) });
    const after = await world.command(task, { ...working, deadline: 'none' });
    expect(after).not.toHaveProperty('deadline');
    expect((await world.scoped().readTask(task.id))?.task).toEqual(after);
  });

  test.each(['completed', 'failed', 'canceled', 'rejected'] as const)('of a %s task is none', async (state) => {
    const world = await open();
    const { grant } = await world.start({ deadline: inMs('idle', 500), totalMs: 9_000 });
    const write = { ...endWrite(grant, state), deadline: inMs('idle', 100) };
    const task = await world.settle(grant, write);
    expect(task).not.toHaveProperty('deadline');
    expect(task).not.toHaveProperty('totalAt');
    expect(task.endedAt).toBe(world.clock.now());
    expect((await world.view(grant)).task).toEqual(task);
    await world.clock.advance('1d');
    expect(await world.store.dueDeadlines(10)).toEqual([]);
  });
}

function describeSignsOfLife(open: OpenWorld): void {
  test('an append begins the idle deadline anew; without one it leaves it', async () => {
    const world = await open();
    const { grant, task } = await world.start({ deadline: inMs('idle', 500), totalMs: 1_500 });
    await world.clock.advance(400);
    await world.store.append(grant, { emitNo: 0, facts: eventFacts(chunk(grant)) });
    expect((await world.view(grant)).task.deadline).toEqual(task.deadline);
    await world.store.append(grant, { emitNo: 1, facts: [], deadline: inMs('idle', 500) });
    expect((await world.view(grant)).task.deadline).toEqual({ kind: 'idle', at: world.clock.now() + 500 });
    await world.clock.advance(900);
    await world.store.append(grant, { emitNo: 1, facts: [], deadline: inMs('idle', 500) });
    expect((await world.view(grant)).task.deadline).toEqual({ kind: 'total', at: task.totalAt });
  });

  test('an append never puts off the end of a task whose cancel was asked for', async () => {
    const world = await open();
    const { grant, task } = await world.start({ deadline: inMs('idle', 500) });
    const asked = await world.command(task, {
      events: [{ kind: 'cancel-requested', by: 'ann' }],
      deadline: inMs('cancel', 200),
    });
    expect(asked.deadline).toEqual({ kind: 'cancel', at: world.clock.now() + 200 });
    await world.clock.advance(100);
    await world.store.append(grant, { emitNo: 0, facts: eventFacts(chunk(grant)), deadline: inMs('idle', 500) });
    expect((await world.view(grant)).task.deadline).toEqual(asked.deadline);
  });

  test('a batch that was refused or repeated leaves the deadline', async () => {
    const world = await open();
    const { grant, task } = await world.start({ deadline: inMs('idle', 500) });
    const batch = { emitNo: 0, facts: eventFacts(chunk(grant)) };
    await world.store.append(grant, batch);
    const late = { ...batch, emitNo: 7, deadline: inMs('idle', 9_000) };
    await expect(world.store.append(grant, late)).rejects.toMatchObject({ code: 'lease_lost' });
    expect((await world.view(grant)).task.deadline).toEqual(task.deadline);
  });

  test('a claim ends the wait in the queue and begins the idle deadline', async () => {
    const world = await open();
    const worker = await world.worker();
    const claim = { ...worker, agents: [AGENT], runsMax: 1 };
    const { task } = await world.submit({ deadline: inMs('queued', 500) });
    await world.store.claim({ ...claim, deadline: inMs('idle', 3_000) });
    const idle = { kind: 'idle', at: world.clock.now() + 3_000 };
    expect((await world.scoped().readTask(task.id))?.task.deadline).toEqual(idle);
    const without = await world.submit({ deadline: inMs('queued', 500), totalMs: 700 });
    await world.store.claim(claim);
    const total = { kind: 'total', at: world.clock.now() + 700 };
    expect((await world.scoped().readTask(without.task.id))?.task.deadline).toEqual(total);
    const neither = await world.submit({ deadline: inMs('queued', 500) });
    await world.store.claim(claim);
    expect((await world.scoped().readTask(neither.task.id))?.task).not.toHaveProperty('deadline');
  });
}

function describeDue(open: OpenWorld): void {
  test('that have passed are listed, earliest first', async () => {
    const world = await open();
    const late = await world.submit({ deadline: inMs('queued', 300) });
    const early = await world.submit({ deadline: inMs('queued', 100) });
    const middle = await world.submit({ totalMs: 200 });
    await world.submit({ deadline: inMs('queued', 301) });
    await world.submit();
    expect(await world.store.dueDeadlines(10)).toEqual([]);
    await world.clock.advance(300);
    expect(await world.store.dueDeadlines(10)).toEqual([early, middle, late].map(({ task }) => task.no));
    expect(await world.store.dueDeadlines(2)).toEqual([early, middle].map(({ task }) => task.no));
  });
}
