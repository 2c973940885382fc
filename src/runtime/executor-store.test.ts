import { describe, expect, test } from 'vitest';
import type { TaskTurn } from '../agent/turn.ts';
import { CodedError } from '../base/errors.ts';
import { begun } from '../testing/begun-run.ts';

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

describe('a store that refuses', () => {
  test('what a run writes, for good: the task fails', async () => {
    const world = await begun(async (turn, inside) => {
      const { store } = inside.process.parts;
      store.append = () => Promise.reject(new CodedError('internal', { cause: new Error('constraint') }));
      await turn.status('refused');
      await turn.artifact('a').flush();
      return 'never';
    });
    expect(await world.state()).toBe('failed');
    expect(world.logged.some(({ message }) => message === 'agent failed')).toBe(true);
  });

  test('what a run wrote last, for good: the task fails though its handler returned', async () => {
    const world = await begun(async (turn, inside) => {
      inside.process.parts.store.append = () => Promise.reject(new Error('constraint'));
      turn.status('refused').then(() => turn.artifact('a').flush());
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      return 'done';
    });
    expect(await world.state()).toBe('failed');
    expect(await world.artifactText('result')).toBeUndefined();
  });

  test('how a run ended, for good: the task fails with the reason in the log', async () => {
    const world = await begun((_turn, inside) => {
      const { store } = inside.process.parts;
      const { settle } = store;
      store.settle = (grant, request) =>
        request.facts.length > 0 ? Promise.reject(new Error('constraint')) : settle(grant, request);
      return 'a result that no row can hold';
    });
    expect(await world.state()).toBe('failed');
    expect(world.logged.find(({ message }) => message === 'agent failed')?.fields.error).toMatchObject({
      message: 'constraint',
    });
  });

  test('to say what the turn is: the run waits for it', async () => {
    let failures = 0;
    const world = await begun(() => 'x', {
      intercept: ({ name }) => (name === 'readTurn' && ++failures < 4 ? 'fail' : 'pass'),
    });
    await world.advance('10s');
    expect(await world.state()).toBe('completed');
  });
});

describe('alive', () => {
  test('puts off the idle deadline when half of its slack is used up', async () => {
    let turn: TaskTurn<string> | undefined;
    const world = await begun((given) => {
      turn = given;
      return aborted(given.signal);
    });
    const deadline = async (): Promise<number> => (await world.view()).task.deadline?.at ?? 0;
    const first = await deadline();
    const say = async (seconds: number): Promise<number> => {
      await world.clock.advance(seconds * 1_000);
      turn?.alive();
      await world.settleDown();
      return (await deadline()) - first;
    };
    // An hour is promised, and the slack is a minute.
    expect(await say(29)).toBe(0);
    expect(await say(1)).toBe(30_000);
    expect(await say(29)).toBe(30_000);
    expect(await say(3)).toBe(62_000);
    expect((await world.events()).at(-1)?.kind).toBe('status-changed');
  });
});
