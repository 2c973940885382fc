import { policyOf } from '../agent/define-agent.ts';
import type { Instant } from '../base/clock.ts';
import type { AgentName, Fence, MessageId, RunId, TaskNo } from '../model/ids.ts';
import type { Message } from '../model/message.ts';
import { decideDeadline, decideLost, decideSettle, decideTimer, type RunFacts } from '../model/run-decide.ts';
import type { Task } from '../model/task.ts';
import type { TaskView } from '../model/task-view.ts';
import type { TaskWrite } from '../model/task-write.ts';
import { untilWritten } from './command-tries.ts';
import type { Lease } from './lease-keeper.ts';
import { taskFields } from './log-fields.ts';
import type { Engine, RuntimeParts } from './ports.ts';

export interface SweepParts
  extends Pick<RuntimeParts, 'store' | 'agents' | 'clock' | 'newId' | 'log' | 'config' | 'hub'> {
  readonly engine: Pick<Engine, 'cancel' | 'held'>;
  readonly lease: Lease;
}

/** What became of one task in a sweep. `left`: nothing was due any more, or it is not this process's to decide. */
export type Swept = 'written' | 'left';

/**
 * A run whose worker is dead, or a live task without a run. Its agent decides what a crash means, so a process that
 * does not serve the agent leaves it to one that does; the idle deadline ends it if nobody ever comes.
 */
export async function sweepLost(parts: SweepParts, taskNo: TaskNo): Promise<Swept> {
  return await change(parts, taskNo, (view) => {
    if (view.run?.state === 'leased' && view.run.workerNo === parts.lease.worker()?.workerNo) return undefined;
    const facts = factsOf(parts, view);
    return facts === undefined ? undefined : decideLost(view, { ...facts, message: say(parts, view.task) });
  });
}

export async function sweepDeadline(parts: SweepParts, taskNo: TaskNo, now: Instant): Promise<Swept> {
  return await change(parts, taskNo, (view) => decideDeadline(view, { now, message: say(parts, view.task) }));
}

export async function sweepTimer(parts: SweepParts, taskNo: TaskNo, now: Instant): Promise<Swept> {
  return await change(
    parts,
    taskNo,
    (view) => decideTimer(view, { now, runId: parts.newId() as RunId, times: parts.config.times }),
    'debug',
  );
}

/**
 * A run that the store has leased to this worker and that no engine here knows: the answer to its grant was lost. It
 * goes back to the queue, free of charge.
 */
export async function sweepStray(parts: SweepParts, stray: { taskNo: TaskNo; fence: Fence }): Promise<Swept> {
  return await change(parts, stray.taskNo, (view) => {
    if (view.run?.state !== 'leased' || view.run.fence !== stray.fence) return undefined;
    if (parts.engine.held().some((held) => held.taskNo === stray.taskNo)) return undefined;
    const facts = factsOf(parts, view);
    return facts === undefined ? undefined : decideSettle(view, { kind: 'handed-back' }, facts);
  });
}

function factsOf(parts: SweepParts, view: TaskView): RunFacts | undefined {
  const agent = parts.agents.find(view.task.agent as AgentName);
  if (agent === undefined) return undefined;
  return {
    policy: policyOf(agent, view.turn.skill),
    times: parts.config.times,
    runId: parts.newId() as RunId,
  };
}

function say(parts: SweepParts, task: Task): (text: string) => Message {
  return (text) => ({
    messageId: parts.newId() as MessageId,
    role: 'agent',
    parts: [{ kind: 'text', text }],
    contextId: task.contextId,
    taskId: task.id,
  });
}

/**
 * Decides on one task and writes it, then tells who follows, who waits for work, and the run that is over by it. Timers
 * are routine and logged at `debug`; everything else that a sweep moves is news.
 */
async function change(
  parts: SweepParts,
  taskNo: TaskNo,
  decide: (view: TaskView) => TaskWrite | undefined,
  level: 'info' | 'debug' = 'info',
): Promise<Swept> {
  return await untilWritten(async () => {
    const view = await parts.store.readView(taskNo);
    const write = view === undefined ? undefined : decide(view);
    if (view === undefined || write === undefined) return 'left';
    const result = await parts.store.command(taskNo, view.task.headSeq, write);
    if (result.kind === 'moved') return undefined;
    if (result.kind !== 'written') return 'left';
    parts.hub.publish(taskNo, result.events);
    if (view.run?.state === 'leased') parts.engine.cancel(taskNo);
    if (write.runs?.some((run) => run.kind === 'queue')) parts.hub.runnable();
    parts.log[level]('task swept', {
      ...taskFields(view.task, view.run?.id),
      state: result.task.state,
      events: result.events.map((event) => event.kind),
    });
    return 'written';
  });
}
