import type { AgentName, TaskId } from '../model/ids.ts';
import { taskNotFound } from '../runtime/task-answers.ts';
import type { ScopedStore, Snapshot, SnapshotWant } from '../store/contract.ts';
import type { Wanted } from './large-tasks.ts';
import type { Call, TaskShown } from './operations.ts';
import type { OperationParts } from './verb.ts';

/** The rows this call may see. */
export function rowsOf(parts: OperationParts, call: Call): ScopedStore {
  return parts.store(call.agent.name as AgentName, call.caller.scope);
}

/** The task with content as asked for. Throws `task_not_found`. */
export async function findShown(parts: OperationParts, call: Call, wanted: Wanted): Promise<TaskShown> {
  const shown = await parts.largeTasks.find(wanted, (want) => readSnapshot(parts, call, { ...want, id: wanted.id }));
  if (shown === undefined) throw taskNotFound(wanted.id);
  return shown;
}

/** The task row as a snapshot without content. Throws `task_not_found`. */
export async function findTask(parts: OperationParts, call: Call, id: TaskId): Promise<Snapshot> {
  const snapshot = await readSnapshot(parts, call, { id, historyMax: 0, artifacts: false });
  if (snapshot === undefined) throw taskNotFound(id);
  return snapshot;
}

function readSnapshot(parts: OperationParts, call: Call, wanted: Wanted): Promise<Snapshot | undefined> {
  const { id, ...want } = wanted;
  return parts.runtime.snapshot({ caller: call.caller, agent: call.agent, taskId: id }, want);
}

/** Everything, or the newest `historyLength` messages. */
export function wholeTask(historyLength: number | undefined): SnapshotWant {
  return { artifacts: true, ...(historyLength === undefined ? {} : { historyMax: historyLength }) };
}
