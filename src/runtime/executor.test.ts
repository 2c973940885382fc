import { describe, expect, test } from 'vitest';
import { instant } from '../base/clock.ts';
import { begun, opened } from '../testing/begun-run.ts';
import type { RunWorld } from '../testing/run-world.ts';

const never = new AbortController().signal;
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

async function outcomes(world: RunWorld): Promise<readonly string[]> {
  return (await world.events()).flatMap((event) => (event.kind === 'run-settled' ? [event.outcome] : []));
}

describe('cancel', () => {
  test('a handler that heeds its signal is over at once', async () => {
    const world = await begun((turn) => aborted(turn.signal));
    await world.cancel();
    await world.settleDown();
    expect(await world.state()).toBe('canceled');
    expect(await outcomes(world)).toEqual(['canceled']);
    expect(world.process.engine.freeSlots()).toBe(10);
  });

  test('what the handler does in answer is not written, and an artifact it was writing is not closed', async () => {
    const world = await begun(async (turn) => {
      const report = turn.artifact('report');
      await report.append('half ');
      await report.flush();
      await aborted(turn.signal).catch(async () => {
        report.append('more');
        turn.status('sorry');
      });
      return 'result';
    });
    await world.cancel();
    await world.settleDown();
    expect(await world.state()).toBe('canceled');
    expect(await outcomes(world)).toEqual(['succeeded']);
    const { content } = await world.snapshot();
    expect(content.artifacts.map(({ header, parts, closedSeq }) => [header.name, parts, closedSeq])).toEqual([
      ['report', [{ kind: 'text', text: 'half ' }], undefined],
    ]);
  });

  test('a handler that waits for its turn is over at once', async () => {
    const world = await begun((turn) => turn.sleep('4s'));
    await world.cancel();
    await world.settleDown();
    expect(await world.state()).toBe('canceled');
    expect(world.process.engine.freeSlots()).toBe(10);
  });

  test('one that ignores it is canceled after the grace, and keeps its slot until it ends', async () => {
    const world = await begun((_turn, { clock }) => clock.sleep(60_000, never));
    await world.cancel();
    await world.settleDown();
    expect(await world.state()).toBe('working');
    await world.clock.advance('2s');
    await world.settleDown();
    expect(await world.state()).toBe('canceled');
    expect(world.process.engine.held()).toEqual([]);
    expect(world.process.engine.freeSlots()).toBe(9);
    const free = world.process.engine.nextFree(never);
    await world.clock.advance('1m');
    await free;
    expect(world.process.engine.freeSlots()).toBe(10);
  });

  test('its own failure stays on the run', async () => {
    const world = await begun((turn) =>
      aborted(turn.signal).catch(() => {
        throw new Error('cleanup went wrong');
      }),
    );
    await world.cancel();
    await world.settleDown();
    expect(await outcomes(world)).toEqual(['failed']);
    expect(await world.state()).toBe('canceled');
  });

  test('that nobody told this process of is found when the run settles', async () => {
    let finish: (text: string) => void = () => {};
    const world = await begun(() => new Promise((resolve) => (finish = resolve)));
    const tell = world.process.engine.cancel;
    world.process.engine.cancel = () => {};
    await world.cancel();
    world.process.engine.cancel = tell;
    finish('too late');
    await world.settleDown();
    expect(await world.state()).toBe('canceled');
    expect(await outcomes(world)).toEqual(['succeeded']);
  });
});

describe('drain', () => {
  test('lets runs end until the deadline', async () => {
    const world = await begun(async (_turn, { clock }) => {
      await clock.sleep(10_000, never);
      return 'done';
    });
    const drained = world.process.engine.drain(instant(world.clock.now() + 60_000));
    await world.clock.advance('10s');
    await drained;
    expect(await world.state()).toBe('completed');
  });

  test('then hands back, free of charge, whatever the handler throws', async () => {
    const reasons: unknown[] = [];
    let runs = 0;
    const world = await begun((turn) => {
      runs += 1;
      if (runs > 1) return 'done elsewhere';
      return aborted(turn.signal).catch((reason) => {
        reasons.push(reason.name);
        throw new TypeError('library broke on abort');
      });
    });
    const drained = world.process.engine.drain(instant(world.clock.now() + 5_000));
    await world.clock.advance('5s');
    await drained;
    expect(reasons).toEqual(['DrainError']);
    expect(await outcomes(world)).toEqual(['handed-back']);
    expect(await world.state()).toBe('working');
    await world.startProcess();
    await world.work();
    expect(await world.artifactText('result')).toBe('done elsewhere');
    expect((await world.view()).turn.crashes).toBe(0);
  });

  test('a step that was paid for in answer to the abort is still recorded', async () => {
    let paid = 0;
    const world = await begun((turn) =>
      turn.step('pay', async ({ signal }) => {
        paid += 1;
        await aborted(signal).catch(() => {});
        return 'receipt';
      }),
    );
    const drained = world.process.engine.drain(world.clock.now());
    await world.clock.advance(0);
    await drained;
    expect((await world.journal()).get('step:pay')).toBe('done');
    await world.startProcess();
    await world.work();
    expect(paid).toBe(1);
    expect(await world.artifactText('result')).toBe('receipt');
  });

  test('a handler that ignores it is handed back after the grace', async () => {
    const world = await begun((_turn, { clock }) => clock.sleep(3_600_000, never));
    const drained = world.process.engine.drain(world.clock.now());
    await world.clock.advance('2s');
    await drained;
    expect(await outcomes(world)).toEqual(['handed-back']);
  });

  test('a run that is granted after it is handed back too', async () => {
    const world = await opened((turn) => aborted(turn.signal));
    await world.process.engine.drain(world.clock.now());
    await world.submit('hello');
    await world.claim();
    await world.settleDown();
    expect(await outcomes(world)).toEqual(['handed-back']);
  });
});

describe('a lost lease', () => {
  test('makes every run inert; then their signals fire and their cleanups run', async () => {
    const order: string[] = [];
    const world = await begun(async (turn) => {
      turn.defer(() => void order.push('first'));
      turn.defer(() => void order.push('second'));
      turn.signal.addEventListener('abort', () => {
        order.push('abort');
        turn.status('written after the loss');
      });
      await turn.status('before');
      await aborted(turn.signal);
    });
    world.process.engine.loseAll();
    await world.settleDown();
    expect(order).toEqual(['abort', 'second', 'first']);
    expect(world.process.engine.held()).toEqual([]);
    expect(world.process.engine.freeSlots()).toBe(10);
    expect(await world.state()).toBe('working');
    expect(JSON.stringify(await world.events())).not.toContain('after the loss');
  });

  test('that the store tells of, at an append', async () => {
    const world = await begun(async (turn, inside) => {
      const view = await inside.view();
      await inside.store.command(inside.taskNo, view.task.headSeq, { events: [], revokeFence: true });
      await turn.status('fenced');
      await turn.artifact('a').flush();
      return 'never';
    });
    expect(world.process.engine.held()).toEqual([]);
    expect(world.process.engine.freeSlots()).toBe(10);
    expect(JSON.stringify(await world.events())).not.toContain('fenced');
  });

  test('that the store tells of, at the settlement', async () => {
    const world = await begun(async (_turn, inside) => {
      const view = await inside.view();
      await inside.store.command(inside.taskNo, view.task.headSeq, { events: [], revokeFence: true });
      return 'never';
    });
    expect(world.process.engine.held()).toEqual([]);
    expect(await world.artifactText('result')).toBeUndefined();
  });

  test('while the settlement waits for the store', async () => {
    const world = await begun(() => 'x', { intercept: ({ name }) => (name === 'settle' ? 'fail' : 'pass') });
    expect(world.process.engine.held()).toHaveLength(1);
    world.process.engine.loseAll();
    await world.settleDown();
    expect(world.process.engine.held()).toEqual([]);
    expect(world.clock.sleeping()).toBe(0);
  });
});

describe('slots', () => {
  test('are held by runs, and freed one by one', async () => {
    const finish: ((text: string) => void)[] = [];
    const world = await opened(() => new Promise((resolve) => finish.push(resolve)), { config: { concurrency: 2 } });
    const { engine } = world.process;
    for (const text of ['a', 'b', 'c']) await world.submit(text);
    await world.work();
    expect(finish).toHaveLength(2);
    expect(engine.freeSlots()).toBe(0);
    const free = engine.nextFree(never);
    finish[0]?.('done');
    await free;
    expect(engine.freeSlots()).toBe(1);
    const gone = new AbortController();
    const waiting = engine.nextFree(gone.signal);
    gone.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  test('a parked run holds none', async () => {
    const world = await begun((turn) => turn.ask('Q?'));
    expect(world.process.engine.freeSlots()).toBe(10);
  });

  test('a run that crashed twice is exclusive for a while, not for as long as it takes', async () => {
    const world = await begun((turn) => aborted(turn.signal));
    expect(world.process.engine.exclusive).toBe(false);
    for (let crash = 0; crash < 2; crash += 1) {
      await world.crash();
      await world.work();
    }
    expect((await world.view()).turn.crashes).toBe(2);
    expect(world.process.engine.exclusive).toBe(true);
    const freed = world.process.engine.nextFree(new AbortController().signal);
    await world.advance('31s');
    await freed;
    expect(world.process.engine.exclusive).toBe(false);
  });
});

describe('a run that was granted with one that is alone', () => {
  async function beside(): Promise<{ readonly world: RunWorld; readonly begun: string[] }> {
    const begunTexts: string[] = [];
    const world = await begun((turn) => {
      begunTexts.push(turn.text);
      return aborted(turn.signal);
    });
    await world.crash();
    await world.work();
    await world.crash();
    begunTexts.length = 0;
    await world.submit('beside');
    await world.claim();
    await world.settleDown();
    return { world, begun: begunTexts };
  }

  test('is handed back, and begins when the other was alone for long enough', async () => {
    const { world, begun } = await beside();
    expect(begun).toEqual(['hello']);
    expect(world.process.engine.held()).toHaveLength(1);
    expect(await outcomes(world)).toEqual(['handed-back']);
    await world.clock.advance('30s');
    await world.work();
    expect(begun).toEqual(['hello', 'beside']);
  });
});

test('a run that is to be alone waits for one that executes, and a cancel does not', async () => {
  const begunTexts: string[] = [];
  const world = await begun((turn) => {
    begunTexts.push(turn.text);
    return aborted(turn.signal);
  });
  await world.crash();
  await world.work();
  await world.crash();
  const { taskId, taskNo } = world;
  const twice = await world.store.claim({ ...world.process.worker, agents: [world.agentName], runsMax: 1 });
  await world.submit('first');
  await world.work();
  begunTexts.length = 0;
  for (const grant of twice) world.process.engine.start(grant);
  await world.settleDown();
  expect(begunTexts).toEqual([]);
  expect(world.process.engine.exclusive).toBe(true);
  Object.assign(world, { taskId, taskNo });
  await world.cancel();
  await world.settleDown();
  expect([begunTexts, await world.state()]).toEqual([[], 'canceled']);
  expect(world.process.engine.exclusive).toBe(false);
});

describe('cleanups', () => {
  test('run however the run ends, last in first out, and one that fails stops no other', async () => {
    const order: string[] = [];
    const world = await begun(async (turn) => {
      turn.defer(() => void order.push('last'));
      turn.defer(() => Promise.reject(new Error('broken')));
      turn.defer(async () => void order.push('first'));
      await turn.ask('Q?');
    });
    expect(order).toEqual(['first', 'last']);
    expect(world.logged.filter(({ message }) => message === 'cleanup failed')).toHaveLength(1);
  });
});

describe('a message that waits', () => {
  test('is the next turn, with what the first one made before it', async () => {
    const finish: ((text: string) => void)[] = [];
    const world = await begun(
      (turn) =>
        turn.text === 'hello' ? new Promise((resolve) => finish.push(resolve)) : `${turn.history.length} before`,
      { policy: { whenBusy: 'queue' } },
    );
    await world.reply('second');
    finish[0]?.('one');
    await world.settleDown();
    await world.work();
    expect(await world.state()).toBe('completed');
    const { content } = await world.snapshot();
    expect(content.artifacts.map(({ parts }) => parts[0])).toMatchObject([{ text: 'one' }, { text: '1 before' }]);
  });
});

describe('a call with what no type allows', () => {
  test('rejects like any other', async () => {
    const caught: unknown[] = [];
    const world = await begun(async (turn) => {
      const note = (error: unknown): void => void caught.push((error as Error).name);
      await turn
        .artifact('a')
        .append(null as never)
        .catch(note);
      await turn.sleep('soon' as never).catch(note);
    });
    expect(caught).toEqual(['AgentCodeError', 'RangeError']);
    expect(await world.state()).toBe('completed');
  });
});
