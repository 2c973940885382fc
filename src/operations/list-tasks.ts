import type { Instant } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import type { TaskNo } from '../model/ids.ts';
import type { TaskPlace } from '../model/page.ts';
import type { Task } from '../model/task.ts';
import { filesBytes, partsBytes } from '../runtime/event-bytes.ts';
import type { ScopedStore, TaskQuery } from '../store/contract.ts';
import { rowsOf } from './find-task.ts';
import type { ListParams, ListResult, TaskShown } from './operations.ts';
import { type Listing, readPageToken, writePageToken } from './page-token.ts';
import type { OperationParts, Verb } from './verb.ts';

/** Messages of each listed task when the caller names no number: a list stays light (A2A 1.0 §3.2.4 leaves it to the server). */
const LISTED_HISTORY_DEFAULT = 10;

/** What one page holds at most, but for the task that goes over it: an answer is built in memory. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** Tasks that are read together: all of them may turn out large. */
const ROWS_AT_ONCE = 10;

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
    const read = await withContent(parts, { store, rows: page.items, filters, params });
    const last = page.items[read.rows - 1];
    const isMore = page.more || read.rows < page.items.length;
    const nextPageToken = isMore && last !== undefined ? writePageToken(listing, tokenOf(last, totalSize)) : '';
    return { snapshots: read.snapshots, nextPageToken, pageSize, totalSize };
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

interface ListedRows {
  readonly store: ScopedStore;
  readonly rows: readonly Task[];
  readonly filters: Filters;
  readonly params: ListParams;
}

/**
 * Reads the content of rows, until it is as much as one answer should hold; the rest is for the next page. A task that
 * left the filter, or was deleted, since the page was read is left out.
 */
async function withContent(
  parts: OperationParts,
  page: ListedRows,
): Promise<{ readonly snapshots: readonly TaskShown[]; readonly rows: number }> {
  const { historyLength, includeArtifacts } = page.params;
  const want = { historyMax: historyLength ?? LISTED_HISTORY_DEFAULT, artifacts: includeArtifacts };
  const snapshots: TaskShown[] = [];
  let bytes = 0;
  let rows = 0;
  while (rows < page.rows.length && bytes <= PAGE_BYTES_MAX) {
    const group = page.rows.slice(rows, rows + (includeArtifacts ? 1 : ROWS_AT_ONCE));
    rows += group.length;
    const read = await Promise.all(
      group.map(({ id }) => parts.largeTasks.find({ id, ...want }, (wanted) => page.store.readSnapshot(id, wanted))),
    );
    for (const found of read) {
      if (found === undefined || !stillFits(found.task, page.filters)) continue;
      snapshots.push(found);
      bytes += answerBytes(found);
    }
  }
  return { snapshots, rows };
}

function answerBytes(shown: TaskShown): number {
  if (!('content' in shown)) return shown.large.bytes;
  const { history, artifacts } = shown.content;
  return [...history, ...artifacts].reduce((sum, { parts }) => sum + partsBytes(parts) + filesBytes(parts), 0);
}

function stillFits(task: Task, filters: Filters): boolean {
  return filters.state === undefined || task.state === filters.state;
}
