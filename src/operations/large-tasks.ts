import { CodedError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { TaskId } from '../model/ids.ts';
import type { Task } from '../model/task.ts';
import type { TaskContent } from '../model/task-fold.ts';
import { partsBytes } from '../runtime/event-bytes.ts';
import type { Runtime } from '../runtime/ports.ts';
import { taskNotFound } from '../runtime/task-answers.ts';
import type { Snapshot, SnapshotWant } from '../store/contract.ts';
import type { LargeTask, TaskShown } from './operations.ts';

/** A task, and how much of it an answer is to show. */
export interface Wanted extends SnapshotWant {
  readonly id: TaskId;
}

const ROW_ONLY: SnapshotWant = { historyMax: 0, artifacts: false };

/**
 * Tasks whose content is too much to have in hand for each who asks. Once one was met, its row alone is read, and its
 * content when it is written: once, from the log, for all who read it at the same head.
 */
export class LargeTasks {
  readonly #runtime: Pick<Runtime, 'contentAt'>;
  /** Bytes by task and want, the longest unused first. */
  readonly #known = new Map<string, number>();

  constructor(runtime: Pick<Runtime, 'contentAt'>) {
    this.#runtime = runtime;
  }

  /** Reads a task and shows it. Undefined where `read` finds none. Throws `unsupported_operation` for one that no answer could hold, or when it is read. */
  async find(
    wanted: Wanted,
    read: (want: SnapshotWant) => Promise<Snapshot | undefined>,
  ): Promise<TaskShown | undefined> {
    const bytes = this.#known.get(keyOf(wanted));
    if (bytes !== undefined) {
      const row = await read(ROW_ONLY);
      return row === undefined ? undefined : this.#shown(row.task, wanted, bytes);
    }
    const { id: _, ...want } = wanted;
    const snapshot = await read(want);
    return snapshot === undefined ? undefined : this.show(snapshot, wanted);
  }

  /** A snapshot as it is, or without its content where that is large. */
  show(snapshot: Snapshot, wanted: Wanted): TaskShown {
    const bytes = contentBytes(snapshot.content);
    if (bytes <= limits.largeTaskBytes) return snapshot;
    if (bytes <= limits.taskTextBytesMax) return this.#shown(snapshot.task, wanted, bytes);
    this.#note(wanted, limits.taskTextBytesMax);
    throw tooLarge(snapshot.task.id);
  }

  /** `bytes` is what was met; whether an answer can still hold it shows when it is read, since what was discarded counts no more. */
  #shown(task: Task, wanted: Wanted, bytes: number): LargeTask {
    this.#note(wanted, bytes);
    return { task, large: { bytes, key: keyOf(wanted), read: () => this.#read(task, wanted) } };
  }

  async #read(task: Task, wanted: Wanted): Promise<TaskContent> {
    const { id: _, ...want } = wanted;
    const at = { headSeq: task.headSeq, want, bytesMax: limits.taskTextBytesMax };
    const content = await this.#runtime.contentAt(task.no, at);
    if (content === 'gone') throw taskNotFound(task.id);
    if (content === 'too-large') throw tooLarge(task.id);
    this.#note(wanted, contentBytes(content));
    return content;
  }

  #note(wanted: Wanted, bytes: number): void {
    const key = keyOf(wanted);
    this.#known.delete(key);
    if (bytes <= limits.largeTaskBytes) return;
    this.#known.set(key, bytes);
    const [oldest] = this.#known.keys();
    if (this.#known.size > limits.knownLargeTasksMax && oldest !== undefined) this.#known.delete(oldest);
  }
}

function keyOf({ id, historyMax, artifacts }: Wanted): string {
  return `${id} ${historyMax ?? 'all'} ${artifacts}`;
}

/** About what content takes in memory; a blob is a name there. */
function contentBytes({ history, artifacts, statusMessage }: TaskContent): number {
  let bytes = statusMessage === undefined ? 0 : partsBytes(statusMessage.parts);
  for (const { parts } of history) bytes += partsBytes(parts);
  for (const { parts } of artifacts) bytes += partsBytes(parts);
  return bytes;
}

function tooLarge(taskId: TaskId): CodedError {
  const mib = limits.taskTextBytesMax / 1024 / 1024;
  return new CodedError('unsupported_operation', {
    message: `Task ${taskId} holds more text than the ${mib} MiB that one answer may. Read its log with GET /v1/tasks/{id}/events, one artifact with GET /v1/tasks/{id}/artifacts/{artifactId}, or less history.`,
    metadata: { taskId },
  });
}
