import type { Instant } from '../../base/clock.ts';
import type { AgentName } from '../../model/ids.ts';
import type { Run } from '../../model/run.ts';
import type { Scope } from '../../model/scope.ts';
import { isTerminal } from '../../model/task.ts';
import type { TaskRecord } from './records.ts';

export type QueuedRun = Run & { readonly state: 'queued' };

interface Entry {
  readonly record: TaskRecord;
  readonly run: QueuedRun;
}

/**
 * The queued runs, one line for each agent and scope, so that a claim can take the first of each in turn
 * and nobody waits behind the many of another. Runs that were settled meanwhile are passed over when they come up.
 */
export class ReadyRuns {
  readonly #lines = new Map<AgentName, Map<Scope, Entry[]>>();

  add(record: TaskRecord, run: QueuedRun): void {
    const { agent, scope } = record.task;
    const scopes = this.#lines.get(agent) ?? new Map<Scope, Entry[]>();
    const line = scopes.get(scope) ?? [];
    this.#lines.set(agent, scopes);
    scopes.set(scope, line);
    push(line, { record, run });
  }

  /** Takes runs that are runnable at `now`: the first of every line, the longest runnable first, then the second of every line, and so on. */
  take(request: {
    readonly agents: readonly AgentName[];
    readonly now: Instant;
    readonly runsMax: number;
  }): readonly Entry[] {
    const taken: Entry[] = [];
    let lines = this.#linesOf(request.agents);
    while (lines.length > 0 && taken.length < request.runsMax) {
      lines = lines.filter((line) => (line[0]?.run.runnableAt ?? Number.POSITIVE_INFINITY) <= request.now);
      lines.sort((a, b) => order(a[0] as Entry, b[0] as Entry));
      for (const line of lines) {
        if (taken.length >= request.runsMax) break;
        taken.push(pop(line) as Entry);
        passOver(line);
      }
    }
    return taken;
  }

  nextAt(agents: readonly AgentName[]): Instant | undefined {
    let next: Instant | undefined;
    for (const line of this.#linesOf(agents)) {
      const at = line[0]?.run.runnableAt;
      if (at !== undefined && (next === undefined || at < next)) next = at;
    }
    return next;
  }

  /** Lines whose first entry is still queued. Empty ones go. */
  #linesOf(agents: readonly AgentName[]): Entry[][] {
    const lines: Entry[][] = [];
    for (const agent of new Set(agents)) {
      const scopes = this.#lines.get(agent);
      if (scopes === undefined) continue;
      for (const [scope, line] of scopes) {
        passOver(line);
        if (line.length === 0) scopes.delete(scope);
        else lines.push(line);
      }
    }
    return lines;
  }
}

function passOver(line: Entry[]): void {
  for (let first = line[0]; first !== undefined && !isQueued(first); first = line[0]) pop(line);
}

/** A run's value is replaced whenever it changes, so the same value means the same state. */
function isQueued({ record, run }: Entry): boolean {
  return record.activeRun === run && !isTerminal(record.task.state);
}

function order(a: Entry, b: Entry): number {
  return a.run.runnableAt - b.run.runnableAt || a.run.no - b.run.no;
}

/** Adds to a binary heap whose first entry is the smallest. */
function push(heap: Entry[], entry: Entry): void {
  let at = heap.length;
  heap.push(entry);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (order(heap[parent] as Entry, entry) <= 0) break;
    heap[at] = heap[parent] as Entry;
    at = parent;
  }
  heap[at] = entry;
}

function pop(heap: Entry[]): Entry | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && order(heap[child + 1] as Entry, heap[child] as Entry) < 0) child += 1;
    if (order(last, heap[child] as Entry) <= 0) break;
    heap[at] = heap[child] as Entry;
    at = child;
  }
  heap[at] = last;
  return first;
}
