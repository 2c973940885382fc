import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TaskId } from '../../src/model/ids.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { AGENT, SCOPE, StoreWorld } from '../conformance/builders.ts';
import { startStoreProcess, testFolder } from './folder.ts';

const clock = createFakeClock();

test('after kill -9 everything that was acknowledged is there, and nothing is torn', async () => {
  const path = join(await testFolder(), 'store.db');
  const acknowledged: string[] = [];
  for (const writes of [1, 40, 200]) {
    const writer = await startStoreProcess('write', path);
    await writer.line(writes);
    const [, ...taskIds] = await writer.kill();
    acknowledged.push(...taskIds);
  }
  const store = await openSqliteStore({ path, clock });
  const world = new StoreWorld(store, clock);
  for (const taskId of acknowledged) {
    const task = (await store.scoped(AGENT, SCOPE).readTask(taskId as TaskId))?.task;
    expect(task).toMatchObject({ id: taskId, state: 'working', headSeq: 7, emitNo: 2 });
  }
  expect(acknowledged.length).toBeGreaterThanOrEqual(39 + 199);

  const { items } = await store.scoped(AGENT, SCOPE).listTasks({ pageItems: 100_000 });
  for (const task of items) {
    const events = await world.events(task);
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: task.headSeq }, (_, index) => index + 1));
    expect([5, 7]).toContain(task.headSeq);
  }
  expect(await store.buryWorkers({ all: true })).toBeGreaterThanOrEqual(2);
  expect((await store.orphans(100_000)).length).toBe(items.length);
  await store.close();
});
