import type { NewDeadline } from '../model/task-write.ts';
import type { Grant, TurnMaterial } from '../store/contract.ts';
import { beginRun } from './begin-run.ts';
import { idleDeadline } from './deadlines.ts';
import type { Lease, Worker } from './lease-keeper.ts';
import type { Engine, RuntimeParts } from './ports.ts';
import type { SlotBook } from './slot-book.ts';

export interface GrantParts extends Pick<RuntimeParts, 'hub' | 'config'> {
  readonly engine: Engine;
  readonly lease: Lease;
  readonly slots: SlotBook;
  /** True once this process takes no more work. */
  readonly isDraining: () => boolean;
}

/** Where a write may lease the run it queues: to this worker, if it has a slot. */
export interface Placement {
  readonly grantTo?: Worker;
  readonly deadline: NewDeadline | undefined;
}

/**
 * Commits a write that queues a run, with a slot of this process held for it while there is one. What the write granted
 * begins here at once; what it could not grant is called out to every claim loop that listens.
 */
export async function placeRun<Result extends { readonly kind: string; readonly grant?: Grant }>(
  parts: GrantParts,
  queued: NewDeadline | undefined,
  commit: (placement: Placement) => Promise<Result>,
  materialOf?: (result: Result) => TurnMaterial | undefined,
): Promise<Result> {
  const worker = parts.isDraining() ? undefined : parts.lease.worker();
  const reserved = worker === undefined ? 0 : parts.slots.reserve(1);
  let started = 0;
  try {
    if (worker === undefined || reserved === 0) return await commit({ deadline: queued });
    const result = await commit({
      grantTo: { workerNo: worker.workerNo, workerId: worker.workerId },
      deadline: idleDeadline(parts.config.times),
    });
    if (result.grant !== undefined && beginRun(parts, result.grant, materialOf?.(result))) started = 1;
    return result;
  } finally {
    if (reserved > 0) parts.slots.settle({ reserved, started });
  }
}
