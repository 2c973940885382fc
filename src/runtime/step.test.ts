import { describe, expect, test } from 'vitest';
import { defineAgent } from '../agent/define-agent.ts';
import { Fail } from '../agent/errors.ts';
import type { StepOptions, TaskTurn } from '../agent/turn.ts';
import { RunWorld } from '../testing/run-world.ts';

type Run = (turn: TaskTurn<string>, world: RunWorld) => unknown;

async function begun(run: Run, start: 'send' | 'submit' = 'send'): Promise<RunWorld> {
  const call = (turn: TaskTurn<string>): unknown => run(turn, world);
  const world: RunWorld = await RunWorld.open({
    agent: defineAgent({ name: 'tester', description: 'd', run: call as never }),
  });
  await world[start]('hello');
  return world;
}

describe('a step', () => {
  test('runs once; later runs of the turn get its record, decoded alike', async () => {
    let calls = 0;
    const seen: unknown[] = [];
    const world = await begun(async (turn) => {
      const value = await turn.step('load', () => {
        calls += 1;
        return { at: new Date(5), ids: new Set([1n]), none: undefined };
      });
      seen.push(value);
      await turn.ask('Q?');
    });
    await world.answer('a');
    expect(calls).toBe(1);
    expect(seen[0]).toEqual({ at: new Date(5), ids: new Set([1n]), none: undefined });
    expect(seen[1]).toEqual(seen[0]);
  });

  test('its keys are name and occurrence; a # in a name is no occurrence', async () => {
    const world = await begun(async (turn) => {
      await turn.step('a', () => 1);
      await turn.step('a', () => 2);
      await turn.step('a#2', () => 3);
      await turn.ask('Q?');
    });
    expect([...(await world.journal()).keys()].sort()).toEqual(['ask:Q?', 'step:a', 'step:a##2', 'step:a#2']);
  });

  test('is recorded before the handler sees its result', async () => {
    const world = await begun(async (turn, inside) => {
      await turn.step('pay', () => 'ok');
      return (await inside.journal()).get('step:pay');
    });
    expect(await world.artifactText('result')).toBe('done');
  });

  test('has three tries with a growing pause, each somewhere in its upper half', async () => {
    const tries: { readonly attempt: number; readonly atMs: number }[] = [];
    const world = await begun((turn, { clock }) =>
      turn.step('flaky', ({ attempt }) => {
        tries.push({ attempt, atMs: clock.monotonicMs() });
        throw new Error('no');
      }),
    );
    await world.advance('1m');
    expect(tries.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    const pauses = tries.slice(1).map(({ atMs }, index) => atMs - (tries[index]?.atMs ?? 0));
    expect(pauses[0]).toBeGreaterThanOrEqual(250);
    expect(pauses[0]).toBeLessThanOrEqual(500);
    expect(pauses[1]).toBeGreaterThanOrEqual(500);
    expect(pauses[1]).toBeLessThanOrEqual(1_000);
    expect(await world.state()).toBe('failed');
    expect(world.logged.find(({ message }) => message === 'step failed')?.fields).toMatchObject({ step: 'flaky' });
  });

  test.each<[string, StepOptions, number]>([
    ['as many as it is given', { retry: { attempts: 5, backoff: '10ms' } }, 5],
    ['one when it must happen at most once', { atMostOnce: true }, 1],
  ])('has tries: %s', async (_name, options, expected) => {
    let tries = 0;
    const world = await begun((turn) =>
      turn.step(
        'flaky',
        () => {
          tries += 1;
          throw new Error('no');
        },
        options,
      ),
    );
    await world.advance('5m');
    expect(tries).toBe(expected);
  });

  test('what the author throws on purpose is not tried again', async () => {
    let tries = 0;
    const world = await begun((turn) =>
      turn.step('pay', () => {
        tries += 1;
        throw new Fail('No funds.');
      }),
    );
    expect(tries).toBe(1);
    expect((await world.snapshot()).content.statusMessage?.parts[0]).toEqual({ kind: 'text', text: 'No funds.' });
  });

  test('each try has its time', async () => {
    const reasons: unknown[] = [];
    const world = await begun((turn) =>
      turn.step(
        'slow',
        ({ signal }) => {
          signal.addEventListener('abort', () => reasons.push(signal.reason.name));
          return new Promise<string>(() => {});
        },
        { timeout: '5s', retry: { attempts: 2, backoff: '1s' } },
      ),
    );
    await world.advance('1m');
    expect(reasons).toEqual(['TimeoutError', 'TimeoutError']);
    expect(await world.state()).toBe('failed');
  });

  test('names where its result holds what cannot be kept, and does not try again', async () => {
    let tries = 0;
    const caught: unknown[] = [];
    await begun((turn) =>
      turn
        .step('load', () => {
          tries += 1;
          return { client: { send: () => 1 } } as never;
        })
        .catch((error: unknown) => caught.push(error)),
    );
    expect(tries).toBe(1);
    expect(caught[0]).toMatchObject({
      message: expect.stringContaining('Step "load" returned a function at value.client.send.'),
    });
  });

  test('a key for the outside world is the same in every run, and another for every step and task', async () => {
    const keys: string[] = [];
    const run: Run = async (turn) => {
      keys.push(turn.key('mail'));
      await turn.step('a', ({ idempotencyKey }) => void keys.push(idempotencyKey));
      await turn.step('a', ({ idempotencyKey }) => void keys.push(idempotencyKey));
      await turn.ask('Q?');
    };
    const world = await begun(run);
    await world.answer('a');
    expect(keys).toHaveLength(4);
    expect(keys[3]).toBe(keys[0]);
    expect(new Set(keys).size).toBe(3);
    await begun(run);
    expect(new Set(keys).size).toBe(3);
  });

  test('its signal fires when the run ends', async () => {
    const world = await begun((turn) =>
      turn.step(
        'long',
        ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      ),
    );
    await world.cancel();
    await world.settleDown();
    expect(await world.state()).toBe('canceled');
    expect(world.process.engine.freeSlots()).toBe(10);
  });
});

describe('an at-most-once step', () => {
  const once: Run = async (turn) => {
    const outcome = await turn
      .step(
        'fire',
        ({ signal }) => new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('x'))),
        {
          atMostOnce: true,
        },
      )
      .catch((error: Error) => error.name);
    return outcome;
  };

  test('that had begun when its process died is unknown', async () => {
    const world = await begun(once);
    expect((await world.journal()).get('step:fire')).toBe('open');
    await world.crash();
    await world.work();
    expect(await world.artifactText('result')).toBe('StepUnknown');
  });

  test('that failed in a living process fails the same way in every later run, without having run again', async () => {
    let calls = 0;
    const world = await begun(async (turn) => {
      const fire = (): Promise<string> =>
        turn.step(
          'fire',
          () => {
            calls += 1;
            throw new Fail('No powder.', { code: 'powder' });
          },
          { atMostOnce: true },
        );
      const first = await fire().catch((error: unknown) => error);
      await turn.ask('Again?');
      const error = first as Fail;
      return `${error.name} ${error.message} ${error.code}`;
    });
    expect((await world.journal()).get('step:fire')).toBe('done');
    await world.answer('yes');
    expect(calls).toBe(1);
    expect(await world.artifactText('result')).toBe('Fail No powder. powder');
  });

  test('that answered a drain by failing is unknown', async () => {
    const world = await begun(async (turn) => {
      const heed = ({ signal }: { readonly signal: AbortSignal }): Promise<string> =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      return await turn.step('fire', heed, { atMostOnce: true }).catch((error: Error) => error.name);
    });
    const drained = world.process.engine.drain(world.clock.now());
    await world.clock.advance('5s');
    await drained;
    expect((await world.journal()).get('step:fire')).toBe('open');
    await world.startProcess();
    await world.work();
    expect(await world.artifactText('result')).toBe('StepUnknown');
  });

  test('whose beginning was not on record did not begin', async () => {
    let calls = 0;
    const world = await begun((turn) => turn.step('fire', () => String(++calls), { atMostOnce: true }), 'submit');
    await world.claim();
    world.process.handle.kill();
    await world.settleDown();
    expect(calls).toBe(0);
    await world.work();
    expect(calls).toBe(1);
    expect(await world.artifactText('result')).toBe('1');
  });
});

describe('an error in a call that nobody waits for', () => {
  test('does not end the process', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    const world = await begun(async (turn) => {
      turn.step('lost', () => Promise.reject(new Fail('x')));
      turn.step('pay', () => turn.ask('inside?'));
      await turn.step('other', async () => 1);
    });
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
    expect(await world.state()).toBe('completed');
  });
});
