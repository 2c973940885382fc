import { describe, expect, test } from 'vitest';
import { silentLogger } from '../base/log.ts';
import type { WorkerNo } from '../model/ids.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { never } from '../testing/runtime-node.ts';
import { LEASE_LOSS_MARGIN_MS, LeaseKeeper, type LeaseOptions } from './lease-keeper.ts';

const LEASE_MS = 30_000;

async function createLease(change: (store: LeaseOptions['store']) => Partial<LeaseOptions['store']> = () => ({})) {
  const clock = createFakeClock();
  const memory = await openMemoryStore({ clock });
  const real: LeaseOptions['store'] = {
    registerWorker: (request) => memory.registerWorker(request),
    renewWorker: (request) => memory.renewWorker(request),
    retireWorker: (workerNo) => memory.retireWorker(workerNo),
  };
  const renewals: number[] = [];
  const store = { ...real, ...change(real) };
  let ids = 0;
  const lost: number[] = [];
  const keeper = new LeaseKeeper({
    store: {
      ...store,
      renewWorker: (request) => {
        renewals.push(clock.monotonicMs());
        return store.renewWorker(request);
      },
    },
    clock,
    newId: () => `w${++ids}`,
    log: silentLogger,
    agents: [],
    leaseMs: LEASE_MS,
    onLost: () => lost.push(clock.monotonicMs()),
  });
  return { clock, memory, keeper, renewals, lost };
}

const bound = (clock: ReturnType<typeof createFakeClock>) => ({
  now: () => clock.now(),
  sleep: (ms: number, signal: AbortSignal) => clock.sleep(ms, signal),
});

const hang = (): Promise<never> => new Promise(() => {});

describe('a lease', () => {
  test('is renewed at a third, for as long as it is kept', async () => {
    const { clock, keeper, renewals, lost } = await createLease();
    await keeper.start();
    await keeper.start();
    const worker = keeper.worker();
    await clock.advance('60s');
    expect(renewals).toEqual([10_000, 20_000, 30_000, 40_000, 50_000, 60_000]);
    expect([keeper.worker()?.workerNo, lost]).toEqual([worker?.workerNo, []]);
    await keeper.stop(clock.now());
    expect([keeper.worker(), clock.sleeping()]).toEqual([undefined, 0]);
  });

  test('ends at once when it is given back', async () => {
    const { clock, memory, keeper } = await createLease();
    await keeper.start();
    const { workerNo } = keeper.worker() as { workerNo: WorkerNo };
    await keeper.stop(clock.now());
    expect(await memory.renewWorker({ workerNo, leaseMs: 1_000 })).toBe(false);
    await keeper.stop(clock.now());
  });

  test('survives renewals that fail for a while', async () => {
    let isAway = false;
    const { clock, keeper, renewals, lost } = await createLease((store) => ({
      renewWorker: (request) => (isAway ? Promise.reject(new Error('away')) : store.renewWorker(request)),
    }));
    await keeper.start();
    const worker = keeper.worker();
    isAway = true;
    await clock.advance('20s');
    expect(renewals).toEqual([10_000, 12_000, 14_000, 16_000, 18_000, 20_000]);
    isAway = false;
    await clock.advance('20s');
    expect([keeper.worker()?.workerNo, lost]).toEqual([worker?.workerNo, []]);
    await keeper.stop(clock.now());
  });

  test.each([
    ['fail', (): Promise<boolean> => Promise.reject(new Error('away'))],
    ['hang', hang],
  ])('is lost a margin before the store would, when renewals %s', async (_how, renewWorker) => {
    const { clock, keeper, lost } = await createLease(() => ({ renewWorker }));
    await keeper.start();
    const worker = keeper.worker();
    await clock.advance(LEASE_MS - LEASE_LOSS_MARGIN_MS - 1);
    expect(lost).toEqual([]);
    await clock.advance(1);
    expect(lost).toEqual([LEASE_MS - LEASE_LOSS_MARGIN_MS]);
    expect(keeper.worker()?.workerNo).not.toBe(worker?.workerNo);
    await keeper.stop(clock.now());
    expect(clock.sleeping()).toBe(0);
  });

  test('counts from before the renewal was sent', async () => {
    let answer: ((isAlive: boolean) => void) | undefined;
    const { clock, keeper, lost } = await createLease(() => ({
      renewWorker: () => new Promise((resolve) => (answer = resolve)),
    }));
    await keeper.start();
    await clock.advance('25s');
    answer?.(true);
    await clock.advance(LEASE_MS - LEASE_LOSS_MARGIN_MS - 15_001);
    expect(lost).toEqual([]);
    await clock.advance(1);
    expect(lost).toEqual([10_000 + LEASE_MS - LEASE_LOSS_MARGIN_MS]);
    await keeper.stop(clock.now());
  });

  test('of a worker that was swept is lost, and the process goes on under a new id', async () => {
    const { clock, memory, keeper, lost } = await createLease();
    await keeper.start();
    const before = keeper.worker();
    await memory.buryWorkers({ all: true });
    await clock.advance('10s');
    expect(lost).toEqual([10_000]);
    const after = await keeper.ready(never);
    expect(after.workerId).not.toBe(before?.workerId);
    expect(await memory.renewWorker({ workerNo: after.workerNo, leaseMs: LEASE_MS })).toBe(true);
    await keeper.stop(clock.now());
  });

  test('of a process that was frozen is lost before anybody there goes on', async () => {
    let frozenMs = 0;
    const clock = createFakeClock();
    const lost: string[] = [];
    const keeper = new LeaseKeeper({
      store: await openMemoryStore({ clock }),
      clock: { ...bound(clock), monotonicMs: () => clock.monotonicMs() + frozenMs },
      newId: () => `w${lost.length}`,
      log: silentLogger,
      agents: [],
      leaseMs: LEASE_MS,
      onLost: () => lost.push('lost'),
    });
    await keeper.start();
    expect(keeper.worker()).toBeDefined();
    frozenMs = LEASE_MS;
    expect(keeper.worker()).toBeUndefined();
    expect(lost).toEqual(['lost']);
    const wait = keeper.ready(never);
    await clock.advance('10s');
    expect((await wait).workerId).toBe('w1');
    await keeper.stop(clock.now());
  });

  test('that cannot be had keeps callers waiting only as long as they like', async () => {
    const { clock, keeper } = await createLease(() => ({ registerWorker: hang }));
    const stop = new AbortController();
    const wait = keeper.ready(stop.signal);
    stop.abort(new Error('enough'));
    await expect(wait).rejects.toThrow('enough');
    const failing = await createLease(() => ({ registerWorker: () => Promise.reject(new Error('away')) }));
    await expect(failing.keeper.start()).rejects.toThrow('away');
    await keeper.stop(clock.now());
    expect(clock.sleeping()).toBe(0);
  });
});
