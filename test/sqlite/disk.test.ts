import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Seq } from '../../src/model/ids.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { chunk, eventFacts, StoreWorld, text } from '../conformance/builders.ts';
import { testFolder } from './folder.ts';

const KIB = 1024;
const MIB = KIB * KIB;

test('a full disk refuses what would grow the file; what was there stays, and room makes it go on', async () => {
  const path = join(await testFolder(), 'store.db');
  const clock = createFakeClock();
  const store = await openSqliteStore({ path, clock, pageCountMax: 300 });
  const world = new StoreWorld(store, clock);
  const { task, grant } = await world.start();
  const total = { bytes: 64 * KIB, sha256: '0'.repeat(64) };
  const blob = () => store.stageSlice({ sliceNo: 0, data: new Uint8Array(64 * KIB), total });
  const results = await Promise.allSettled(Array.from({ length: 40 }, blob));
  const refused = results.filter((result) => result.status === 'rejected');
  expect(refused.length).toBeGreaterThan(20);
  expect(refused.length).toBeLessThan(40);
  for (const { reason } of refused) {
    expect(reason).toMatchObject({ code: 'unavailable', detail: { cause: { errcode: 13 } } });
  }
  const before = await world.everything(task);
  const long = eventFacts(chunk(grant, { parts: [text('x'.repeat(200 * KIB))] }));
  await expect(store.append(grant, { emitNo: 0, facts: long })).rejects.toMatchObject({ code: 'unavailable' });
  expect(await world.everything(task)).toEqual(before);

  await clock.advance('1h');
  expect(await store.dropStagedBlobs({ olderThanMs: 0, itemsMax: 100 })).toBe(40 - refused.length);
  expect(await store.append(grant, { emitNo: 0, facts: long })).toMatchObject({ kind: 'written', headSeq: 6 });
  await store.close();

  const roomy = await openSqliteStore({ path, clock });
  expect(await roomy.append(grant, { emitNo: 1, facts: long })).toMatchObject({ kind: 'written', headSeq: 7 });
  await roomy.close();
});

test('small writes beside one that is too large for the disk are written', async () => {
  const path = join(await testFolder(), 'store.db');
  const clock = createFakeClock();
  const store = await openSqliteStore({ path, clock, pageCountMax: 300 });
  const world = new StoreWorld(store, clock);
  const { grant } = await world.start();
  const long = eventFacts(chunk(grant, { parts: [text('x'.repeat(2 * MIB))] }));
  const [first, tooLong, last] = await Promise.allSettled([
    world.submit(),
    store.append(grant, { emitNo: 0, facts: long }),
    world.submit(),
  ]);
  expect([first.status, tooLong.status, last.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await store.stats()).toMatchObject({ tasks: { submitted: 2, working: 1 }, events: 3 + 3 + 5 });
  await store.close();
});

test('the write-ahead log stays small however much is written beside readers', async () => {
  const path = join(await testFolder(), 'store.db');
  const clock = createFakeClock();
  const store = await openSqliteStore({ path, clock });
  const world = new StoreWorld(store, clock);
  const { task, grant } = await world.start();
  let walBytes = 0;
  for (let emitNo = 0; emitNo < 150; emitNo += 1) {
    const parts = [text('x'.repeat(256 * KIB))];
    const append = store.append(grant, { emitNo, facts: eventFacts(chunk(grant, { append: emitNo > 0, parts })) });
    const page = { after: 0 as Seq, eventsMax: 500, bytesMax: MIB };
    await Promise.all([append, world.scoped().readTask(task.id), store.readEvents(task.no, page)]);
    walBytes = Math.max(walBytes, (await stat(`${path}-wal`)).size);
  }
  expect((await stat(path)).size).toBeGreaterThan(30 * MIB);
  expect(walBytes).toBeLessThan(12 * MIB);
  await store.close();
});
