import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Scope } from '../../src/model/scope.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { StoreWorld } from '../conformance/builders.ts';
import { testFolder } from './folder.ts';

test('more scopes than one claim looks at all get their turn before the many runs of one', async () => {
  const clock = createFakeClock();
  const store = await openSqliteStore({ path: join(await testFolder(), 'store.db'), clock });
  const world = new StoreWorld(store, clock);
  const crowd = 'user=crowd' as Scope;
  await Promise.all(Array.from({ length: 300 }, () => world.submit({ scope: crowd })));
  await clock.advance(1_000);
  const others = Array.from({ length: 150 }, (_, index) => `user=${index}` as Scope);
  await Promise.all(others.map((scope) => world.submit({ scope })));
  const worker = await world.worker();
  const served = new Map<Scope, number>();
  for (let claim = 0; claim < 22; claim += 1) {
    for (const { scope } of await world.claim(worker, 8)) served.set(scope, (served.get(scope) ?? 0) + 1);
  }
  expect(others.filter((scope) => !served.has(scope))).toEqual([]);
  expect(served.get(crowd)).toBe(22 * 8 - 150);
  await store.close();
});
