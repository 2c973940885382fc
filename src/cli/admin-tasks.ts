import { formatInstant } from '../base/clock.ts';
import { silentLogger } from '../base/log.ts';
import type { AgentName } from '../model/ids.ts';
import type { Task } from '../model/task.ts';
import { openStore } from '../server/open-store.ts';
import { countOf, type Flags } from './client-options.ts';
import type { Io } from './io.ts';
import { field, stateWord } from './render-text.ts';
import { storeOf } from './serve-settings.ts';
import { stateOf } from './task-commands.ts';

const TASKS_DEFAULT = 50;

/** `admin tasks`: rows of every agent and scope, read from the store itself, so no server may have it open. */
export async function listAllTasks(io: Io, flags: Flags): Promise<number> {
  const state = flags.state === undefined ? undefined : stateOf(String(flags.state));
  const query = {
    itemsMax: countOf('limit', flags.limit) ?? TASKS_DEFAULT,
    ...(state === undefined ? {} : { state }),
    ...(typeof flags.agent === 'string' ? { agent: flags.agent as AgentName } : {}),
  };
  const opened = await openStore(storeOf(io, flags), { clock: io.clock, logger: silentLogger, migrate: false });
  try {
    const tasks = await opened.store.listTasks(query);
    const { tasks: counts, runs } = await opened.store.stats();
    if (flags.output === 'json') io.out(`${JSON.stringify({ tasks: tasks.map(facts), counts, runs }, null, 2)}\n`);
    else io.out(tasks.map((task) => `${render(task)}\n`).join('') + renderCounts(counts, runs));
    return 0;
  } finally {
    await opened.close();
  }
}

/** What an operator looks for: no content. */
function facts({ id, contextId, agent, scope, state, stateAt, createdAt, headSeq, turnNo, deadline }: Task) {
  return {
    id,
    contextId,
    agent,
    scope,
    state,
    stateAt: formatInstant(stateAt),
    createdAt: formatInstant(createdAt),
    events: headSeq,
    turns: turnNo,
    ...(deadline === undefined ? {} : { deadline: { kind: deadline.kind, at: formatInstant(deadline.at) } }),
  };
}

function render(task: Task): string {
  const { deadline } = task;
  return [
    field('Task ID', task.id),
    field('Context ID', task.contextId),
    field('State', stateWord(task.state)),
    field('Agent', task.agent),
    field('Scope', task.scope),
    field('Since', formatInstant(task.stateAt)),
    field('Events', String(task.headSeq)),
    deadline === undefined ? '' : field('Deadline', `${deadline.kind} ${formatInstant(deadline.at)}`),
  ].join('');
}

function renderCounts(
  counts: Readonly<Record<string, number>>,
  runs: { readonly queued: number; readonly leased: number; readonly waiting: number },
): string {
  const present = Object.entries(counts).filter(([, items]) => items > 0);
  const tasks = present.map(([state, items]) => `${items} ${state}`).join(', ') || 'none';
  return field('Tasks', tasks) + field('Runs', `${runs.queued} queued, ${runs.leased} leased, ${runs.waiting} waiting`);
}
