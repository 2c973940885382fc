import type { TaskNo } from '../model/ids.ts';
import type { RunTimes } from '../model/task-policy.ts';
import type { SystemStore } from '../store/contract.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { createNode, type NodeOptions, type RuntimeNode } from './runtime-node.ts';

/** Short times, so that a test sees each of them pass. */
export const shortTimes: RunTimes = {
  cancelGraceMs: 2_000,
  idleMaxMs: 60_000,
  totalMaxMs: 0,
  interruptedMaxMs: 600_000,
  queuedMaxMs: 600_000,
};

/** Nodes on one store and one clock: replicas. */
export async function createCluster(
  ...each: readonly NodeOptions[]
): Promise<{ clock: FakeClock; store: SystemStore; nodes: readonly RuntimeNode[] }> {
  const clock = createFakeClock();
  const store = await openMemoryStore({ clock });
  const nodes: RuntimeNode[] = [];
  for (const [at, options] of each.entries()) nodes.push(await createNode({ clock, store, seed: at + 1, ...options }));
  return { clock, store, nodes };
}

/** What `kill -9` leaves: nothing of the process runs any more, nothing was given back. */
export async function kill(node: RuntimeNode): Promise<void> {
  const { store } = node;
  const hands = store.retireWorker.bind(store);
  store.retireWorker = async () => {};
  await node.stop();
  store.retireWorker = hands;
}

/** The kinds of a task's events after a place, a status by its state. */
export async function kindsAfter(node: RuntimeNode, taskNo: TaskNo, after: number): Promise<readonly string[]> {
  return (await node.log(taskNo))
    .slice(after)
    .map((event) => (event.kind === 'status-changed' ? event.state : event.kind));
}
