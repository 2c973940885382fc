import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, onTestFinished } from 'vitest';
import type { Random } from '../../src/base/random.ts';
import { seededRandom } from '../../src/base/random.ts';
import type { SystemStore } from '../../src/store/contract.ts';
import { createFakeClock, type FakeClock } from '../../src/testing/fake-clock.ts';
import { describeAppends } from './append-cases.ts';
import { describeArtifacts } from './artifact-cases.ts';
import { describeBlobs } from './blob-cases.ts';
import { StoreWorld } from './builders.ts';
import { describeClaims } from './claim-cases.ts';
import { describeCommands } from './command-cases.ts';
import { describeContent } from './content-cases.ts';
import { describeDeadlines } from './deadline-cases.ts';
import { describeFold } from './fold-cases.ts';
import { describeIsolation } from './isolation-cases.ts';
import { describeLifetime } from './lifetime-cases.ts';
import { describeListings } from './listing-cases.ts';
import { describeMemories } from './memory-cases.ts';
import { describeReads } from './read-cases.ts';
import { describeReplies } from './reply-cases.ts';
import { describeRows } from './row-cases.ts';
import { describeSettlements } from './settle-cases.ts';
import { describeSubmits } from './submit-cases.ts';
import { describeSweeps } from './sweep-cases.ts';
import { describeWorkers } from './worker-cases.ts';

/** What one test gives the adapter to open a store of its own with. */
interface StoreTest {
  readonly clock: FakeClock;
  readonly random: Random;
  /** Fits a PostgreSQL schema and a file name. */
  readonly uniqueName: string;
  /** A file in a directory of its own, which goes when the test is over. */
  readonly path: string;
}

export interface StoreSubject {
  open(test: StoreTest): Promise<SystemStore>;
  /** What this adapter does otherwise, each with its reason. */
  readonly differs?: Differences;
}

/** Differences a case knows of. */
interface Differences {
  /** Nothing outlives `close`: there is no second store on the same data. */
  readonly reopen?: string;
}

/** Opens an empty store; it is closed when the test is over. */
export interface OpenWorld {
  (): Promise<StoreWorld>;
  readonly differs: Differences;
  /** Another store on the data of a world that was opened before. */
  again(world: StoreWorld): Promise<SystemStore>;
}

let names = 0;

/** Every promise of the store contract, as tests of one adapter. */
export function describeStore(name: string, subject: StoreSubject): void {
  describe(`${name} store`, () => {
    const open = worldsOf(subject);
    describeSubmits(open);
    describeCommands(open);
    describeRows(open);
    describeAppends(open);
    describeSettlements(open);
    describeClaims(open);
    describeDeadlines(open);
    describeWorkers(open);
    describeSweeps(open);
    describeReads(open);
    describeListings(open);
    describeArtifacts(open);
    describeBlobs(open);
    describeContent(open);
    describeFold(open);
    describeReplies(open);
    describeMemories(open);
    describeIsolation(open);
    describeLifetime(open);
  });
}

function worldsOf(subject: StoreSubject): OpenWorld {
  const tests = new WeakMap<StoreWorld, StoreTest>();
  const openStore = async (test: StoreTest): Promise<SystemStore> => {
    const store = await subject.open(test);
    onTestFinished(() => store.close());
    return store;
  };
  const openWorld = async (): Promise<StoreWorld> => {
    names += 1;
    const uniqueName = `conformance_${process.pid}_${names}`;
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-store-'));
    // Hooks run last in, first out: the directory goes after the store has closed its files.
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const test = {
      clock: createFakeClock(),
      random: seededRandom(names),
      uniqueName,
      path: join(directory, 'store.db'),
    };
    const world = new StoreWorld(await openStore(test), test.clock);
    tests.set(world, test);
    return world;
  };
  return Object.assign(openWorld, {
    differs: subject.differs ?? {},
    again: (world: StoreWorld) => openStore(tests.get(world) as StoreTest),
  });
}
