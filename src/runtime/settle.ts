import { errorCode } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { RunId } from '../model/ids.ts';
import { decideSettle, type Ending } from '../model/run-decide.ts';
import { isTerminal } from '../model/task.ts';
import type { AgentPolicy } from '../model/task-policy.ts';
import type { TaskView } from '../model/task-view.ts';
import type { TaskWrite } from '../model/task-write.ts';
import type { CommandResult, Fact, Grant } from '../store/contract.ts';
import { createBackoff, untilAnswered } from './backoff.ts';
import type { Unwritten } from './emitter.ts';
import type { RuntimeParts } from './ports.ts';

export interface Settlement {
  readonly parts: RuntimeParts;
  readonly grant: Grant;
  readonly ending: Ending;
  readonly policy: AgentPolicy;
  readonly unwritten: Unwritten;
  /** Facts that depend on what is decided; they come last, right before the write's own events. */
  readonly discarding: (write: TaskWrite) => readonly Fact[];
  /** The task as this run knows it, when nobody else wrote to it; saves the read. */
  readonly view: TaskView | undefined;
  /** Fires when the lease is lost. */
  readonly lost: AbortSignal;
}

/**
 * Writes how a run ended, with everything that it had not written yet, in one transaction. Decides again where somebody
 * else moved the task (a cancel request, a queued message); tries again while the store is away. `lost`: the task is
 * no longer this run's, and nothing was written.
 */
export async function settleRun(settlement: Settlement): Promise<'settled' | 'lost'> {
  const { parts, lost } = settlement;
  const runId = parts.newId() as RunId;
  const backoff = createBackoff(parts);
  let { view } = settlement;
  for (let tries = 1; ; tries += 1) {
    view ??= await readView(settlement);
    if (view === undefined || !isOurs(view, settlement.grant)) return 'lost';
    const result = await trySettle(settlement, view, runId);
    if (result !== 'moved') return result;
    view = undefined;
    if (tries >= limits.commandTriesMax) await backoff.pause(lost);
  }
}

function readView({ parts, grant, lost }: Settlement): Promise<TaskView | undefined> {
  return untilAnswered(parts, lost, () => parts.store.readView(grant.taskNo));
}

function isOurs(view: TaskView, grant: Grant): boolean {
  const { task, run } = view;
  return !isTerminal(task.state) && run?.state === 'leased' && run.no === grant.runNo && run.fence === grant.fence;
}

async function trySettle(settlement: Settlement, view: TaskView, runId: RunId): Promise<'settled' | 'lost' | 'moved'> {
  const { parts, grant, ending, policy, unwritten, lost } = settlement;
  const write = decideSettle(view, ending, { policy, times: parts.config.times, runId });
  const facts = [...unwritten.facts, ...settlement.discarding(write)];
  const request = { emitNo: unwritten.emitNo, facts, headSeq: view.task.headSeq, write };
  let result: CommandResult;
  try {
    result = await untilAnswered(parts, lost, () => parts.store.settle(grant, request));
  } catch (error) {
    // Also what a settlement is told whose first try was written and whose answer was lost.
    if (errorCode(error) === 'lease_lost') return 'lost';
    throw error;
  }
  if (result.kind === 'moved') return 'moved';
  if (result.kind !== 'written') return 'lost';
  parts.hub.publish(grant.taskNo, result.events);
  if (write.runs?.some(({ kind }) => kind === 'queue')) parts.hub.runnable();
  return 'settled';
}
