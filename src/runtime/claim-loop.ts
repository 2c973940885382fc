import type { Service } from '../base/service.ts';
import type { AgentName } from '../model/ids.ts';
import { beginRun } from './begin-run.ts';
import { idleDeadline } from './deadlines.ts';
import type { Lease, Worker } from './lease-keeper.ts';
import { createListeningLoop } from './loop-service.ts';
import type { Engine, RuntimeParts } from './ports.ts';
import type { SlotBook } from './slot-book.ts';
import { RUNNABLE, SLOT_FREED, type Wakeups } from './wakeups.ts';

/** One claim takes at most this many, so that nodes share a burst instead of the first one taking it all. */
const CLAIM_RUNS_MAX = 32;

export interface ClaimLoopParts extends Pick<RuntimeParts, 'store' | 'agents' | 'clock' | 'log' | 'config' | 'hub'> {
  readonly engine: Engine;
  readonly lease: Lease;
  readonly slots: SlotBook;
  readonly wakeups: Wakeups;
}

/**
 * Takes leases on runnable runs while the engine has slots. It looks when a run was queued in this process, when a slot
 * is freed, when the next delayed run falls due, and at every poll, which is all it has for runs that other nodes queue.
 */
export function createClaimLoop(parts: ClaimLoopParts): Service {
  const agents = parts.agents.all.map((agent) => agent.name as AgentName);
  return createListeningLoop({
    name: 'claim-loop',
    clock: parts.clock,
    log: parts.log,
    errorPauseMs: parts.config.pollMs,
    wakeups: parts.wakeups,
    topic: RUNNABLE,
    round: async (signal, listener) => {
      const worker = await parts.lease.ready(signal);
      const reserved = parts.slots.reserve(CLAIM_RUNS_MAX);
      if (reserved === 0) return await nextSlot(parts, signal);
      const claimed = await claim(parts, { worker, agents, reserved });
      if (claimed === reserved) return;
      await listener.next({ pollMs: await nextLookMs(parts, agents), signal });
    },
  });
}

async function claim(
  parts: ClaimLoopParts,
  request: { readonly worker: Worker; readonly agents: readonly AgentName[]; readonly reserved: number },
): Promise<number> {
  const { worker, agents, reserved } = request;
  const idle = idleDeadline(parts.config.times);
  let started = 0;
  try {
    const grants = await parts.store.claim({
      workerNo: worker.workerNo,
      workerId: worker.workerId,
      agents,
      runsMax: reserved,
      ...(idle === undefined ? {} : { deadline: idle }),
    });
    for (const grant of grants) {
      parts.hub.publish(grant.taskNo, grant.events);
      if (beginRun(parts, grant)) started += 1;
    }
    return grants.length;
  } finally {
    parts.slots.settleOwn({ reserved, started });
  }
}

/**
 * A slot is freed by a run that ends, or by a reservation that came to nothing. Runs that are queued meanwhile are no
 * reason to look: a full node under load would look at every one of them.
 */
async function nextSlot(parts: ClaimLoopParts, signal: AbortSignal): Promise<void> {
  const freed = parts.wakeups.listen(SLOT_FREED);
  const either = new AbortController();
  const stop = (): void => either.abort(ENOUGH);
  signal.addEventListener('abort', stop, { once: true });
  const waits = [
    parts.engine.nextFree(either.signal),
    freed.next({ pollMs: parts.config.pollMs, signal: either.signal }),
  ];
  try {
    await Promise.race(waits);
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
    freed.close();
    await Promise.allSettled(waits);
  }
}

const ENOUGH = 'one of them is enough';

async function nextLookMs(parts: ClaimLoopParts, agents: readonly AgentName[]): Promise<number> {
  const { pollMs } = parts.config;
  const nextAt = await parts.store.nextRunnableAt(agents);
  return nextAt === undefined ? pollMs : Math.min(pollMs, Math.max(MIN_PAUSE_MS, nextAt - parts.clock.now()));
}

/** Two clocks that disagree a little must not make a loop of claims that find nothing. */
const MIN_PAUSE_MS = 5;
