import type { AgentName, TaskId } from '../model/ids.ts';
import { taskNotFound } from '../runtime/task-answers.ts';
import type { ScopedStore, Snapshot, SnapshotWant } from '../store/contract.ts';
import type { Call } from './operations.ts';
import type { OperationParts } from './verb.ts';

/** The rows this call may see. */
export function rowsOf(parts: OperationParts, call: Call): ScopedStore {
  return parts.store(call.agent.name as AgentName, call.caller.scope);
}

/** The task with content as asked for, its blobs read. Throws `task_not_found`. */
export async function findSnapshot(
  parts: OperationParts,
  call: Call,
  want: { readonly id: TaskId } & SnapshotWant,
): Promise<Snapshot> {
  const { id, ...content } = want;
  const snapshot = await parts.runtime.snapshot({ caller: call.caller, agent: call.agent, taskId: id }, content);
  if (snapshot === undefined) throw taskNotFound(id);
  return await resolved(parts, snapshot);
}

/** The task row as a snapshot without content. Throws `task_not_found`. */
export function findTask(parts: OperationParts, call: Call, id: TaskId): Promise<Snapshot> {
  return findSnapshot(parts, call, { id, historyMax: 0, artifacts: false });
}

/** The same snapshot with its blobs read into raw parts. */
export async function resolved(parts: OperationParts, { task, content }: Snapshot): Promise<Snapshot> {
  return { task, content: await parts.runtime.resolveContent(content) };
}

/** Everything, or the newest `historyLength` messages. */
export function wholeTask(historyLength: number | undefined): SnapshotWant {
  return { artifacts: true, ...(historyLength === undefined ? {} : { historyMax: historyLength }) };
}
