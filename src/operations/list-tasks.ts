import type { Instant } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import type { TaskNo } from '../model/ids.ts';
import type { TaskPlace } from '../model/page.ts';
import type { Task } from '../model/task.ts';
import type { ScopedStore, Snapshot, TaskQuery } from '../store/contract.ts';
import { resolved, rowsOf } from './find-task.ts';
import type { ListParams, ListResult } from './operations.ts';
import { type Listing, readPageToken, writePageToken } from './page-token.ts';
import type { OperationParts, Verb } from './verb.ts';

/** Messages of each listed task when the caller names no number: a list stays light (A2A 1.0 §3.2.4 leaves it to the server). */
const LISTED_HISTORY_DEFAULT = 10;

type Filters = Pick<TaskQuery, 'contextId' | 'state' | 'stateAtFrom'>;

/**
 * Tasks of the caller, newest status first. A token holds the last row's place, so a task that moves while a client
 * pages costs no other its place; and the total, which is counted once.
 */
export const listTasks: Verb<ListParams, ListResult> = {
  async run(parts, call, params) {
    const store = rowsOf(parts, call);
    const filters = filtersOf(params);
    const listing: Listing = { secrets: parts.secrets, call, of: 'tasks', filters: { ...filters } as JsonObject };
    const pageSize = params.pageSize ?? limits.pageItemsDefault;
    const from = params.pageToken === undefined ? undefined : placeOf(readPageToken(listing, params.pageToken));
    const [page, totalSize] = await Promise.all([
      store.listTasks({ ...filters, pageItems: pageSize, ...(from === undefined ? {} : { after: from.after }) }),
      from === undefined ? store.countTasks(filters) : from.totalSize,
    ]);
    const last = page.items.at(-1);
    const nextPageToken = page.more && last !== undefined ? writePageToken(listing, tokenOf(last, totalSize)) : '';
    const snapshots = await withContent(parts, { store, rows: page.items, filters, params });
    return { snapshots, nextPageToken, pageSize, totalSize };
  },
};

function filtersOf(params: ListParams): Filters {
  return {
    ...(params.contextId === undefined ? {} : { contextId: params.contextId }),
    ...(params.state === undefined ? {} : { state: params.state }),
    ...(params.statusTimestampAfter === undefined ? {} : { stateAtFrom: params.statusTimestampAfter }),
  };
}

function tokenOf(last: Task, totalSize: number): JsonObject {
  return { at: last.stateAt, no: last.no, total: totalSize };
}

function placeOf(token: JsonObject): { readonly after: TaskPlace; readonly totalSize: number } {
  return { after: { stateAt: token.at as Instant, no: token.no as TaskNo }, totalSize: token.total as number };
}

/** Reads each row's content. A task that left the filter, or was deleted, since the page was read is left out. */
async function withContent(
  parts: OperationParts,
  page: {
    readonly store: ScopedStore;
    readonly rows: readonly Task[];
    readonly filters: Filters;
    readonly params: ListParams;
  },
): Promise<readonly Snapshot[]> {
  const want = {
    historyMax: page.params.historyLength ?? LISTED_HISTORY_DEFAULT,
    artifacts: page.params.includeArtifacts,
  };
  const read = await Promise.all(page.rows.map((row) => page.store.readSnapshot(row.id, want)));
  const kept = read.flatMap((found) => (found !== undefined && stillFits(found.task, page.filters) ? [found] : []));
  return await Promise.all(kept.map((snapshot) => resolved(parts, snapshot)));
}

function stillFits(task: Task, filters: Filters): boolean {
  return filters.state === undefined || task.state === filters.state;
}
