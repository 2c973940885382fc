import { defineAgent } from '../agent/define-agent.ts';
import type { PolicyOptions } from '../agent/definition.ts';
import type { TaskTurn } from '../agent/turn.ts';
import { RunWorld, type RunWorldOptions } from './run-world.ts';

type Run = (turn: TaskTurn<string>, world: RunWorld) => unknown;

/** A process with an agent of this handler, and no task yet. */
export async function opened(
  run: Run,
  more: Partial<RunWorldOptions> & { readonly policy?: PolicyOptions } = {},
): Promise<RunWorld> {
  const { policy = {}, ...options } = more;
  const call = (turn: TaskTurn<string>): unknown => run(turn, world);
  const agent = defineAgent({ name: 'tester', description: 'd', run: call as never, policy });
  const world: RunWorld = await RunWorld.open({ agent, ...options });
  return world;
}

/** The same, and a task that was begun. */
export async function begun(run: Run, more: Parameters<typeof opened>[1] = {}): Promise<RunWorld> {
  const world = await opened(run, more);
  await world.send('hello');
  return world;
}
