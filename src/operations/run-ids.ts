import type { StoredEvent } from '../model/event.ts';
import type { RunId, RunNo } from '../model/ids.ts';
import type { Run } from '../model/run.ts';
import type { Task } from '../model/task.ts';
import { rowsOf } from './find-task.ts';
import type { Call } from './operations.ts';
import type { OperationParts } from './verb.ts';

/**
 * The run of each event, for a reader of a log. Content names its run by row; a status names none, and is of the run
 * that was active: one is at a time, from `run-started` until the next thing that begins another. So the log itself
 * tells whoever reads it from a beginning, and the store is asked at most once by whoever came in the middle.
 */
export class RunIds {
  readonly #known = new Map<RunNo, RunId>();
  readonly #readRuns: () => Promise<readonly Run[]>;
  readonly #task: Task;
  #current: RunId | undefined;
  /** Whether the log has shown which run, if any, is active. */
  #isSure: boolean;

  /** `task` is the row as the reader's place found it. */
  constructor(parts: OperationParts, call: Call, place: { readonly task: Task; readonly startsFresh: boolean }) {
    this.#task = place.task;
    this.#isSure = place.startsFresh;
    this.#readRuns = async () => (await rowsOf(parts, call).listRuns(place.task.id)) ?? [];
  }

  /** The run of the next event; a promise only where the store must be asked. */
  of(event: StoredEvent): RunId | undefined | Promise<RunId | undefined> {
    switch (event.kind) {
      case 'run-started':
      case 'run-settled':
        return this.#become(event.runId);
      case 'message-received':
      case 'question-answered':
      case 'timer-fired':
        return this.#become(undefined);
      case 'status-changed':
        return this.#isSure ? this.#current : this.#ask(() => this.#current);
      case 'artifact-updated':
      case 'artifact-discarded':
        return event.runNo === undefined ? undefined : this.#ofRow(event.runNo, event.kind === 'artifact-updated');
      default:
        return undefined;
    }
  }

  #become(current: RunId | undefined): RunId | undefined {
    this.#isSure = true;
    this.#current = current;
    return current;
  }

  /** New content is the active run's; what is discarded may be a dead one's. */
  #ofRow(runNo: RunNo, isActive: boolean): RunId | undefined | Promise<RunId | undefined> {
    const known = this.#known.get(runNo);
    if (known !== undefined) return known;
    if (!isActive || !this.#isSure || this.#current === undefined) return this.#ask(() => this.#known.get(runNo));
    this.#known.set(runNo, this.#current);
    return this.#current;
  }

  async #ask(answer: () => RunId | undefined): Promise<RunId | undefined> {
    const runs = await this.#readRuns();
    for (const run of runs) this.#known.set(run.no, run.id);
    if (!this.#isSure) this.#become(runs.findLast((run) => wasActive(run, this.#task))?.id);
    return answer();
  }
}

/** Whether the run was the active one at the row's head. */
function wasActive(run: Run, { headAt }: Task): boolean {
  if (run.startedAt === undefined || run.startedAt > headAt) return false;
  return run.state !== 'settled' || run.settledAt > headAt;
}
