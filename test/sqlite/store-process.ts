/*
 * A process of its own with a SQLite store: `node test/sqlite/store-process.ts hold FILE` opens it and waits;
 * `write FILE` submits tasks and appends to them without end. It prints `ready`, then the id of each task whose two writes were acknowledged.
 */
import { systemClock } from '../../src/base/clock.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { FakeClock } from '../../src/testing/fake-clock.ts';
import { chunk, eventFacts, StoreWorld, text } from '../conformance/builders.ts';

/** Ids that no other process gives: several write to one file, one after the other. */
class ProcessWorld extends StoreWorld {
  override id<Id extends string>(stem: string): Id {
    return `${process.pid}-${super.id(stem)}` as Id;
  }
}

const [mode, path = ''] = process.argv.slice(2);
const LANES = 16;

const store = await openSqliteStore({ path, clock: systemClock });
process.stdout.write('ready\n');
if (mode === 'write') await writeWithoutEnd();
else setInterval(() => {}, 60_000);

async function writeWithoutEnd(): Promise<void> {
  const world = new ProcessWorld(store, systemClock as FakeClock);
  const worker = await world.worker();
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      for (;;) {
        const { task, grant } = await world.start({ grantTo: worker, parts: [text('x'.repeat(2_000))] });
        await store.append(grant, { emitNo: 0, facts: eventFacts(chunk(grant), chunk(grant, { append: true })) });
        process.stdout.write(`${task.id}\n`);
      }
    }),
  );
}
