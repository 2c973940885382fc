import type { StoredEvent } from '../model/event.ts';
import type { Seq } from '../model/ids.ts';
import type { Task } from '../model/task.ts';
import { foldTask } from '../model/task-fold.ts';
import type { TaskView } from '../model/task-view.ts';
import type { Grant, TurnMaterial } from '../store/contract.ts';

const FIRST_TURN = 1;

/**
 * The task as the run that executes it knows it: the row it started from, folded with what it wrote itself. Good for
 * deciding its settlement without a read, until somebody else writes to the log.
 */
export class LocalView {
  readonly #grant: Grant;
  readonly #material: TurnMaterial;
  #task: Task | undefined;

  constructor(grant: Grant, material: TurnMaterial) {
    this.#grant = grant;
    this.#material = material;
    // Only where this turn is the only one there ever was does surely no message wait in the queue: one that waits may
    // have the lower number, when an answer went before it. Otherwise the store is asked.
    this.#task = material.task.turnNo === FIRST_TURN ? material.task : undefined;
  }

  committed(
    events: readonly StoredEvent[],
    { headSeq, isInterleaved }: { readonly headSeq: Seq; readonly isInterleaved: boolean },
  ): void {
    if (this.#task === undefined) return;
    const task = events.reduce(foldTask, this.#task);
    this.#task = isInterleaved || task.headSeq !== headSeq ? undefined : task;
  }

  /** Undefined when the store must be asked. */
  get current(): TaskView | undefined {
    if (this.#task === undefined) return undefined;
    const { runNo, runId, turn, attempt, workerNo, fence } = this.#grant;
    return {
      task: this.#task,
      turn,
      run: { no: runNo, id: runId, turnNo: turn.turnNo, attempt, state: 'leased', workerNo, fence },
      open: this.#material.journal.filter((entry) => entry.state === 'open'),
      queued: [],
    };
  }
}
