import { describe, expect, test } from 'vitest';
import { defineAgent } from '../agent/define-agent.ts';
import type { TaskTurn } from '../agent/turn.ts';
import { RunWorld } from '../testing/run-world.ts';

async function begun(run: (turn: TaskTurn<string>) => unknown, start: 'send' | 'submit' = 'send'): Promise<RunWorld> {
  const world = await RunWorld.open({ agent: defineAgent({ name: 'tester', description: 'd', run: run as never }) });
  await world[start]('hello');
  return world;
}

const stored = async (world: RunWorld, key: string): Promise<string | undefined> =>
  world.store.readSessionState((await world.view()).task.sessionNo, key);

describe('state of the session', () => {
  test('is read back in the same run, and kept', async () => {
    const world = await begun(async (turn) => {
      expect(await turn.state.get('n')).toBeUndefined();
      turn.state.set('n', { count: 1 });
      expect(await turn.state.get('n')).toEqual({ count: 1 });
      turn.state.set('gone', 1);
      turn.state.set('gone', undefined);
    });
    expect(await stored(world, 'n')).toBe('{"count":1}');
    expect(await stored(world, 'gone')).toBeUndefined();
  });

  test('commits with the next events, or with the end', async () => {
    const world = await begun(async (turn) => {
      turn.state.set('a', 1);
      await turn.step('x', () => 1);
      turn.state.set('b', 2);
      await new Promise(() => {});
    });
    expect(await stored(world, 'a')).toBe('1');
    expect(await stored(world, 'b')).toBeUndefined();
    await world.crash();
    expect(await stored(world, 'b')).toBeUndefined();
  });

  test('a counter counts once, however often its turn runs', async () => {
    const world = await begun(async (turn) => {
      const count = ((await turn.state.get('n')) as number | undefined) ?? 0;
      turn.state.set('n', count + 1);
      await turn.ask('Q?');
      return String(await turn.state.get('n'));
    });
    expect(await stored(world, 'n')).toBe('1');
    await world.answer('a');
    expect(await stored(world, 'n')).toBe('1');
    expect(await world.artifactText('result')).toBe('1');
  });

  test('an old turn that goes on does not put its values over newer ones', async () => {
    const world = await begun(async (turn) => {
      turn.state.set('n', 'old');
      await turn.ask('Q?');
    });
    const view = await world.view();
    await world.answer('a');
    expect(view.task.sessionNo).toBeDefined();
    expect(world.process.handle.calls.filter((name) => name === 'readSessionState')).toEqual([]);
    expect(await stored(world, 'n')).toBe('"old"');
    const rows = [...(await world.journal()).keys()].sort();
    expect(rows).toEqual(['ask:Q?', 'state-set:n']);
  });

  test.each([
    ['set', (turn: TaskTurn<string>) => turn.state.set('é'.repeat(513), 1)],
    ['get', (turn: TaskTurn<string>) => turn.state.get('é'.repeat(513))],
  ])('refuses to %s under a key that no database would index', async (name, run) => {
    const world = await begun(run);
    expect(await world.state()).toBe('rejected');
    expect((await world.events()).at(-1)).toMatchObject({
      message: {
        parts: [{ text: `turn.state.${name}(key): must have at most 1024 bytes in UTF-8; this one has 1026` }],
      },
    });
  });

  test('refuses what is not JSON, by name', async () => {
    const world = await begun((turn) => turn.state.set('f', (() => 1) as never));
    expect(await world.state()).toBe('failed');
    expect(String(world.logged.find(({ message }) => message === 'agent failed')?.fields.error)).toContain(
      'turn.state.set("f") was given a function at value.',
    );
  });
});
