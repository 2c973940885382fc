import { describe, expect, test } from 'vitest';
import type { Clock } from '../base/clock.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { letOthersGoOn } from './event-loop.ts';
import { StartOrder } from './start-order.ts';

interface Run {
  readonly name: string;
}

function opened(idleMaxMs = 0) {
  const clock = createFakeClock();
  const begun: string[] = [];
  let opens = 0;
  const runs = new Map<string, Run>();
  const order = new StartOrder<Run>(
    { clock, idleMaxMs },
    {
      begin: ({ name }) => void begun.push(name),
      opened: () => {
        opens += 1;
      },
    },
  );
  const run = (name: string): Run => {
    const known = runs.get(name) ?? { name };
    runs.set(name, known);
    return known;
  };
  return {
    clock,
    begun,
    order,
    opens: () => opens,
    /** A capital wants to be alone. What is refused is told. */
    add: (...names: readonly string[]) =>
      names.filter((name) => order.add(run(name), name === name.toUpperCase()) === 'refused'),
    end: (name: string) => order.ended(run(name)),
    hurry: (name: string) => order.hurry(run(name)),
  };
}

describe('a run that is to be alone', () => {
  test('waits for those that execute, and then lets nobody begin beside it', () => {
    const { add, end, begun, order, opens } = opened();
    expect(add('a', 'b', 'X', 'c')).toEqual(['c']);
    expect(begun).toEqual(['a', 'b']);
    expect(order.isExclusive).toBe(true);
    end('a');
    expect(begun).toEqual(['a', 'b']);
    end('b');
    expect(begun).toEqual(['a', 'b', 'X']);
    expect(add('d')).toEqual(['d']);
    end('X');
    expect([order.isExclusive, opens()]).toEqual([false, 1]);
    expect(add('c')).toEqual([]);
  });

  test('of two in one claim, one begins', () => {
    const { add, end, begun } = opened();
    expect(add('X', 'Y', 'a')).toEqual(['Y', 'a']);
    end('X');
    expect(add('Y')).toEqual([]);
    expect(begun).toEqual(['X', 'Y']);
  });

  test('begins beside others that do not end in time, and is joined after the same time', async () => {
    const { clock, add, begun, order, opens } = opened();
    add('a', 'X');
    await clock.advance('29s');
    expect(begun).toEqual(['a']);
    await clock.advance('1s');
    expect(begun).toEqual(['a', 'X']);
    await clock.advance('29s');
    expect(order.isExclusive).toBe(true);
    await clock.advance('1s');
    expect([order.isExclusive, opens(), clock.sleeping()]).toEqual([false, 1, 0]);
  });

  test('waits no longer than half of the time in which a silent run is ended', async () => {
    const { clock, add, begun, order } = opened(20_000);
    add('a', 'X');
    await clock.advance('10s');
    expect(begun).toEqual(['a', 'X']);
    await clock.advance('29s');
    expect(order.isExclusive).toBe(true);
  });

  test('ends what it was alone for when it ends itself', () => {
    const { add, end, order, opens, clock } = opened();
    add('X');
    end('X');
    expect([order.isExclusive, opens(), clock.sleeping()]).toEqual([false, 1, 0]);
  });

  test('that ends in the moment in which its time is over takes nothing from the next', async () => {
    const slept = Promise.withResolvers<void>();
    const sleeps = [slept.promise, new Promise<void>(() => {})];
    const clock = { sleep: () => sleeps.shift() } as unknown as Clock;
    const order = new StartOrder<Run>({ clock, idleMaxMs: 0 }, { begin: () => {}, opened: () => {} });
    const [first, next] = [{ name: 'X' }, { name: 'Y' }];
    order.add(first, true);
    slept.resolve();
    order.ended(first);
    order.add(next, true);
    await letOthersGoOn();
    expect(order.add({ name: 'a' }, false)).toBe('refused');
  });

  test('told its end while it waits, it begins at once and holds nobody up', () => {
    const { add, hurry, end, begun, order, clock } = opened();
    add('a', 'X');
    hurry('X');
    expect([begun, order.isExclusive, clock.sleeping()]).toEqual([['a', 'X'], false, 0]);
    hurry('X');
    end('X');
    expect(begun).toHaveLength(2);
  });

  test('is not put off by one that was refused and writes its end', () => {
    const { add, hurry, end, begun } = opened();
    add('a', 'X', 'b');
    hurry('b');
    end('a');
    expect(begun).toEqual(['a', 'b']);
    end('b');
    expect(begun).toEqual(['a', 'b', 'X']);
  });
});
