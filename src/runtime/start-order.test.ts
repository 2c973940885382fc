import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../testing/fake-clock.ts';
import { StartOrder } from './start-order.ts';

interface Run {
  readonly name: string;
}

function opened() {
  const clock = createFakeClock();
  const begun: string[] = [];
  let opens = 0;
  const runs = new Map<string, Run>();
  const order = new StartOrder<Run>(clock, {
    begin: ({ name }) => void begun.push(name),
    opened: () => {
      opens += 1;
    },
  });
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
    /** A capital wants to be alone. */
    add: (...names: readonly string[]) => {
      for (const name of names) order.add(run(name), name === name.toUpperCase());
    },
    end: (name: string) => order.ended(run(name)),
    hurry: (name: string) => order.hurry(run(name)),
  };
}

describe('a run that wants to be alone', () => {
  test('waits for those that execute, and then lets nobody begin beside it', () => {
    const { add, end, begun, order, opens } = opened();
    add('a', 'b', 'X', 'c');
    expect(begun).toEqual(['a', 'b']);
    expect(order.isExclusive).toBe(true);
    end('a');
    expect(begun).toEqual(['a', 'b']);
    end('b');
    expect(begun).toEqual(['a', 'b', 'X']);
    end('X');
    expect(begun).toEqual(['a', 'b', 'X', 'c']);
    expect(order.isExclusive).toBe(false);
    expect(opens()).toBe(1);
  });

  test('of two in one claim, each is alone', () => {
    const { add, end, begun } = opened();
    add('X', 'Y', 'a');
    expect(begun).toEqual(['X']);
    end('X');
    expect(begun).toEqual(['X', 'Y']);
    end('Y');
    expect(begun).toEqual(['X', 'Y', 'a']);
  });

  test('begins beside others that do not end in time, and is joined after the same time', async () => {
    const { clock, add, begun, order, opens } = opened();
    add('a', 'X', 'b');
    await clock.advance('29s');
    expect(begun).toEqual(['a']);
    await clock.advance('1s');
    expect(begun).toEqual(['a', 'X']);
    await clock.advance('29s');
    expect(begun).toEqual(['a', 'X']);
    await clock.advance('1s');
    expect(begun).toEqual(['a', 'X', 'b']);
    expect(order.isExclusive).toBe(false);
    expect(opens()).toBe(1);
    expect(clock.sleeping()).toBe(0);
  });

  test('alone from the start, it opens the doors when its time is over or it is', async () => {
    const first = opened();
    first.add('X');
    await first.clock.advance('30s');
    expect([first.order.isExclusive, first.opens()]).toEqual([false, 1]);
    const second = opened();
    second.add('X');
    second.end('X');
    expect([second.order.isExclusive, second.opens(), second.clock.sleeping()]).toEqual([false, 1, 0]);
  });

  test('canceled while it waits, it ends at once and holds nobody up', () => {
    const { add, hurry, end, begun, order } = opened();
    add('a', 'X', 'b');
    hurry('X');
    expect(begun).toEqual(['a', 'X', 'b']);
    hurry('X');
    end('X');
    expect(begun).toHaveLength(3);
    expect(order.isExclusive).toBe(false);
  });

  test('one that was hurried from behind leaves the first in line where it is', () => {
    const { add, hurry, begun, end } = opened();
    add('a', 'X', 'b');
    hurry('b');
    expect(begun).toEqual(['a', 'b']);
    end('b');
    end('a');
    expect(begun).toEqual(['a', 'b', 'X']);
  });
});
