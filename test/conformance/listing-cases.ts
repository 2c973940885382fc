import { describe, expect, test } from 'vitest';
import { instant } from '../../src/base/clock.ts';
import type { ContextId } from '../../src/model/ids.ts';
import type { TaskPlace } from '../../src/model/page.ts';
import type { Task } from '../../src/model/task.ts';
import type { TaskQuery } from '../../src/store/contract.ts';
import { endWrite, type StoreWorld, status } from './builders.ts';
import type { OpenWorld } from './store-suite.ts';

export function describeListings(open: OpenWorld): void {
  describe('listings', () => {
    describeTaskPages(open);
    describeTaskFilters(open);
    describeSessionPages(open);
  });
}

/** Every page of a listing. `between` runs after each. */
async function pages(
  world: StoreWorld,
  query: TaskQuery,
  between: () => Promise<unknown> = async () => {},
): Promise<readonly (readonly Task[])[]> {
  const read: (readonly Task[])[] = [];
  let after: TaskPlace | undefined;
  for (;;) {
    const page = await world.scoped().listTasks({ ...query, ...(after === undefined ? {} : { after }) });
    read.push(page.items);
    if (!page.more) return read;
    const last = page.items.at(-1);
    if (last === undefined) throw new Error('a page that is not the last has items');
    after = { stateAt: last.stateAt, no: last.no };
    await between();
  }
}

const numbers = (tasks: readonly Pick<Task, 'no'>[]): number[] => tasks.map(({ no }) => no);

function describeTaskPages(open: OpenWorld): void {
  test('give the newest status first, and equal times by number', async () => {
    const world = await open();
    const tasks: Task[] = [];
    for (let count = 0; count < 7; count += 1) {
      if (count % 3 === 0) await world.clock.advance(10);
      tasks.push((await world.submit()).task);
    }
    await world.clock.advance(10);
    const moved = await world.command(tasks[2] as Task, { events: [status('working')] });
    const expected = [moved, ...tasks.filter(({ no }) => no !== moved.no).reverse()];
    for (const pageItems of [1, 2, 3, 7, 8]) {
      const read = await pages(world, { pageItems });
      expect(read.flat()).toEqual(expected);
      expect(read.slice(0, -1).every((page) => page.length === pageItems)).toBe(true);
      expect(read).toHaveLength(Math.ceil(7 / pageItems));
    }
  });

  test('of equal times give each row once', async () => {
    const world = await open();
    const tasks = await Promise.all(Array.from({ length: 12 }, () => world.submit()));
    const read = (await pages(world, { pageItems: 5 })).flat();
    expect(numbers(read)).toEqual(numbers(tasks.map(({ task }) => task)).sort((a, b) => b - a));
  });

  test('give no row twice while rows move and come, and miss none that stays', async () => {
    const world = await open();
    const tasks: Task[] = [];
    for (let count = 0; count < 12; count += 1) tasks.push((await world.submit()).task);
    const moving = [tasks[11], tasks[5], tasks[0]] as Task[];
    const read = await pages(world, { pageItems: 3 }, async () => {
      await world.clock.advance(1);
      await world.submit();
      const next = moving.shift();
      if (next !== undefined) await world.command(next, { events: [status('working')] });
    });
    const seen = numbers(read.flat());
    expect(new Set(seen).size).toBe(seen.length);
    const stayed = tasks.filter((_task, index) => ![0, 5, 11].includes(index));
    expect(seen).toEqual(expect.arrayContaining(numbers(stayed)));
  });

  test('of no rows are one empty page', async () => {
    const world = await open();
    expect(await world.scoped().listTasks({ pageItems: 5 })).toEqual({ items: [], more: false });
    expect(await world.scoped().countTasks({})).toBe(0);
  });
}

function describeTaskFilters(open: OpenWorld): void {
  test('filter by context, state and time, alone and together; the count agrees', async () => {
    const world = await open();
    const contextId = 'c' as ContextId;
    const { task: first } = await world.submit({ contextId });
    await world.clock.advance(100);
    const done = await world.complete({ contextId });
    const { task: elsewhere } = await world.submit();
    const cases: readonly [Omit<TaskQuery, 'pageItems'>, readonly Task[]][] = [
      [{ contextId }, [done, first]],
      [{ contextId: 'unknown' as ContextId }, []],
      [{ state: 'submitted' }, [elsewhere, first]],
      [{ state: 'completed' }, [done]],
      [{ state: 'failed' }, []],
      [{ stateAtFrom: done.stateAt }, [elsewhere, done]],
      [{ stateAtFrom: first.stateAt }, [elsewhere, done, first]],
      [{ stateAtFrom: instant(done.stateAt + 1) }, []],
      [{ contextId, state: 'submitted', stateAtFrom: first.stateAt }, [first]],
    ];
    for (const [query, expected] of cases) {
      expect((await pages(world, { ...query, pageItems: 1 })).flat()).toEqual(expected);
      expect(await world.scoped().countTasks(query)).toBe(expected.length);
    }
  });

  test('show the row as it is now', async () => {
    const world = await open();
    const { grant } = await world.start();
    const task = await world.settle(grant, endWrite(grant, 'rejected'));
    expect((await world.scoped().listTasks({ pageItems: 5 })).items).toEqual([task]);
  });
}

function describeSessionPages(open: OpenWorld): void {
  test('of sessions give the newest first, each once', async () => {
    const world = await open();
    for (let count = 0; count < 5; count += 1) await world.submit({ contextId: `c${count}` as ContextId });
    await world.submit({ contextId: 'c0' as ContextId });
    const first = await world.scoped().listSessions({ pageItems: 2 });
    expect(first.more).toBe(true);
    const after = first.items.at(-1)?.no as (typeof first.items)[0]['no'];
    const rest = await world.scoped().listSessions({ pageItems: 3, after });
    expect(rest.more).toBe(false);
    const contexts = [...first.items, ...rest.items].map(({ contextId }) => contextId);
    expect(contexts).toEqual(['c4', 'c3', 'c2', 'c1', 'c0']);
    const session = await world.scoped().readSession('c4' as ContextId);
    expect(first.items[0]).toEqual(session);
  });
}
