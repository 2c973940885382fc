import { describe, expect, test } from 'vitest';
import { CodedError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { silentLogger } from '../base/log.ts';
import { seededRandom } from '../base/random.ts';
import type { StoredEvent } from '../model/event.ts';
import type { Seq } from '../model/ids.ts';
import { defaultRunTimes } from '../model/task-policy.ts';
import type { AppendResult, Fact, FactBatch, Grant } from '../store/contract.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { type Emission, Emitter } from './emitter.ts';
import { letOthersGoOn } from './event-loop.ts';

/** A log that keeps the promises of `append`, and can be slow, away, or lose its answers. */
class FakeLog {
  readonly facts: Fact[] = [];
  readonly batches: FactBatch[] = [];
  inFlight = 0;
  inFlightMax = 0;
  fate: () => 'pass' | 'fail' | 'lose-answer' | 'lease-lost' = () => 'pass';
  gate: Promise<void> = Promise.resolve();

  append = async (_grant: Grant, batch: FactBatch): Promise<AppendResult> => {
    this.inFlight += 1;
    this.inFlightMax = Math.max(this.inFlightMax, this.inFlight);
    await this.gate;
    this.inFlight -= 1;
    const fate = this.fate();
    if (fate === 'lease-lost') throw new CodedError('lease_lost');
    if (fate === 'fail') throw new CodedError('unavailable');
    const isRepeated = this.facts.length === batch.emitNo + batch.facts.length && batch.facts.length > 0;
    if (!isRepeated) {
      expect(batch.emitNo).toBe(this.facts.length);
      this.batches.push(batch);
      this.facts.push(...batch.facts);
    }
    if (fate === 'lose-answer') throw new CodedError('unavailable');
    const headSeq = this.facts.length as Seq;
    return { kind: isRepeated ? 'repeated' : 'written', events: eventsOf(batch, headSeq), headSeq };
  };
}

function eventsOf(batch: FactBatch, headSeq: number): readonly StoredEvent[] {
  return batch.facts.map((_, index) => ({ seq: headSeq - batch.facts.length + index + 1 }) as StoredEvent);
}

function opened(log: FakeLog, { seed = 1, waitedMs = 0 } = {}) {
  const clock = createFakeClock();
  const seen = { committed: [] as number[], lost: 0, broken: [] as unknown[] };
  const parts = {
    clock,
    random: seededRandom(seed),
    log: silentLogger,
    config: { times: defaultRunTimes } as never,
    store: { append: log.append },
  };
  const emitter = new Emitter(
    parts,
    {
      grant: { taskId: 't', headSeq: 0 } as unknown as Grant,
      headSeq: 0 as Seq,
      grantedAtMs: clock.monotonicMs() - waitedMs,
    },
    {
      committed: (events) => seen.committed.push(...events.map(({ seq }) => seq)),
      lost: () => {
        seen.lost += 1;
      },
      broken: (error) => seen.broken.push(error),
    },
  );
  return { emitter, clock, seen };
}

function chunk(n: number, bytes = 100): Emission {
  return { facts: [{ kind: 'session-state', key: String(n), value: undefined }], bytes };
}

const keys = (facts: readonly Fact[]): number[] => facts.map((fact) => Number('key' in fact ? fact.key : Number.NaN));
const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('the emitter', () => {
  test('groups what gathers during a commit, one batch in flight', async () => {
    const log = new FakeLog();
    const gate = Promise.withResolvers<void>();
    log.gate = gate.promise;
    const { emitter, seen } = opened(log);
    emitter.emit(chunk(0));
    emitter.emit(chunk(1));
    await letOthersGoOn();
    for (const n of [2, 3, 4]) await emitter.emit(chunk(n));
    gate.resolve();
    await emitter.flush();
    expect(log.batches.map(({ emitNo, facts }) => [emitNo, facts.length])).toEqual([
      [0, 2],
      [2, 3],
    ]);
    expect(log.inFlightMax).toBe(1);
    expect(seen.committed).toEqual([1, 2, 3, 4, 5]);
  });

  test.each([
    ['events', 10, limits.emitEventsMax],
    ['bytes', 64 * 1024, limits.emitBytesMax / (64 * 1024)],
  ])('takes a bounded number of %s; then its callers wait', async (_of, bytes, fit) => {
    const log = new FakeLog();
    const gate = Promise.withResolvers<void>();
    log.gate = gate.promise;
    const { emitter } = opened(log);
    let taken = 0;
    const count = (): void => {
      taken += 1;
    };
    for (const n of range(fit + 40)) emitter.emit(chunk(n, bytes)).then(count);
    await letOthersGoOn();
    expect(taken).toBe(fit);
    gate.resolve();
    await emitter.flush();
    expect(taken).toBe(fit + 40);
    expect(keys(log.facts)).toEqual(range(fit + 40));
    expect(Math.max(...log.batches.map(({ facts }) => facts.length))).toBeLessThanOrEqual(limits.emitEventsMax);
  });

  test('takes one that is larger than all alone', async () => {
    const log = new FakeLog();
    const { emitter } = opened(log);
    emitter.emit(chunk(0, 10));
    emitter.emit(chunk(1, 5_000_000));
    emitter.emit(chunk(2, 10));
    await emitter.flush();
    expect(log.batches.map(({ facts }) => keys(facts))).toEqual([[0], [1], [2]]);
  });

  test('puts off the idle deadline in time, and not with every batch', async () => {
    const log = new FakeLog();
    const { emitter, clock } = opened(log);
    const hour = defaultRunTimes.idleMaxMs;
    const putOff = () => log.batches.filter(({ deadline }) => deadline !== undefined);
    for (const n of range(300)) {
      await emitter.commit(chunk(n));
      await clock.advance('1s');
    }
    // The grant wrote it first; then twice a minute, a minute further than was promised.
    expect(putOff()).toHaveLength(9);
    expect(putOff()[0]?.deadline).toEqual({ kind: 'idle', inMs: hour + 60_000 });
  });

  test('counts from the grant, however long its run waited to begin', async () => {
    const log = new FakeLog();
    const { emitter } = opened(log, { waitedMs: 30_000 });
    await emitter.commit(chunk(0));
    expect(log.batches).toMatchObject([{ deadline: { kind: 'idle' } }]);
  });

  test('a sign of life writes nothing while the deadline is far away, then an empty batch', async () => {
    const log = new FakeLog();
    const { emitter, clock } = opened(log);
    emitter.alive();
    await letOthersGoOn();
    expect(log.batches).toEqual([]);
    await clock.advance('30s');
    for (const _call of range(3)) {
      emitter.alive();
      await letOthersGoOn();
    }
    expect(log.batches).toMatchObject([{ emitNo: 0, facts: [], deadline: { kind: 'idle' } }]);
  });

  test('sends the same batch again when an answer is lost, and writes it once', async () => {
    const log = new FakeLog();
    let sends = 0;
    log.fate = () => (++sends < 4 ? 'lose-answer' : 'pass');
    const { emitter, clock } = opened(log);
    const flushed = emitter.commit(chunk(0));
    await clock.advance('10s');
    await flushed;
    expect(sends).toBe(4);
    expect(keys(log.facts)).toEqual([0]);
  });

  test('a lost lease is told first, then whoever waits', async () => {
    const log = new FakeLog();
    log.fate = () => 'lease-lost';
    const { emitter, seen } = opened(log);
    const flushed = emitter.commit(chunk(0));
    await expect(flushed).rejects.toMatchObject({ name: 'RunEnded' });
    expect(seen.lost).toBe(1);
    await expect(emitter.emit(chunk(1))).rejects.toMatchObject({ name: 'RunEnded' });
    expect(await emitter.close()).toBeUndefined();
  });

  test('stopping ends its retries', async () => {
    const log = new FakeLog();
    log.fate = () => 'fail';
    const { emitter, clock } = opened(log);
    emitter.emit(chunk(0));
    await clock.untilSleeping(1);
    emitter.stop();
    expect(clock.sleeping()).toBe(0);
    expect(await emitter.close()).toBeUndefined();
  });

  test('held, it leaves what is not on its way to the settlement; what stands in line is made room for', async () => {
    const log = new FakeLog();
    const gate = Promise.withResolvers<void>();
    log.gate = gate.promise;
    const { emitter } = opened(log);
    const total = limits.emitEventsMax + 10;
    for (const n of range(total)) emitter.emit(chunk(n));
    await letOthersGoOn();
    emitter.hold();
    emitter.emit(chunk(total));
    gate.resolve();
    const unwritten = await emitter.close();
    expect(unwritten?.emitNo).toBe(log.facts.length);
    expect([...keys(log.facts), ...keys(unwritten?.facts ?? [])]).toEqual(range(total + 1));
    expect(unwritten?.facts.length).toBe(11);
  });

  test('attached facts go with the next emission, or with the settlement', async () => {
    const log = new FakeLog();
    const { emitter } = opened(log);
    emitter.attach(chunk(0));
    await emitter.flush();
    expect(log.facts).toEqual([]);
    await emitter.commit(chunk(1));
    expect(log.batches.map(({ facts }) => keys(facts))).toEqual([[0, 1]]);
    emitter.attach(chunk(2));
    expect(await emitter.close()).toMatchObject({ emitNo: 2, facts: chunk(2).facts });
  });
});

test.each([
  ['many facts', 3 * limits.emitEventsMax, 100],
  ['many bytes', 40, limits.emitBytesMax / 8],
])('attached %s are held to the bounds of the buffer, and keep their place', async (_of, count, bytes) => {
  const log = new FakeLog();
  const { emitter } = opened(log);
  for (const n of range(count)) emitter.attach(chunk(n, bytes));
  await emitter.commit(chunk(count, bytes));
  expect(keys(log.facts)).toEqual(range(count + 1));
  for (const { facts } of log.batches) {
    expect(facts.length).toBeLessThanOrEqual(limits.emitEventsMax);
    expect(facts.length * bytes).toBeLessThanOrEqual(limits.emitBytesMax);
  }
});

describe('under random failures', () => {
  test('keeps the order, loses nothing, doubles nothing', async () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = seededRandom(seed);
      const log = new FakeLog();
      log.fate = () => {
        const drawn = random.fraction();
        return drawn < 0.2 ? 'fail' : drawn < 0.4 ? 'lose-answer' : 'pass';
      };
      const { emitter, clock, seen } = opened(log, { seed });
      let emitted = 0;
      let isDone = false;
      const writers = range(3).map(async () => {
        for (let turn = 0; turn < 100; turn += 1) {
          const bytes = random.fraction() < 0.05 ? limits.emitBytesMax / 2 : 100;
          const taken = emitter.emit(chunk(emitted++, bytes));
          const drawn = random.fraction();
          if (drawn < 0.5) await taken;
          if (drawn < 0.05) await emitter.flush();
        }
      });
      const done = Promise.all(writers).then(() => emitter.flush());
      done.then(() => {
        isDone = true;
      });
      while (!isDone) await clock.advance('1s');
      expect(keys(log.facts), `seed ${seed}`).toEqual(range(300));
      expect(log.inFlightMax, `seed ${seed}`).toBe(1);
      expect(seen.committed, `seed ${seed}`).toEqual(range(300).map((n) => n + 1));
      expect(log.batches.every(({ facts }) => facts.length <= limits.emitEventsMax)).toBe(true);
    }
  });
});
