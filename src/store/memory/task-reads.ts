import { CodedError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import type { Artifact } from '../../model/artifact.ts';
import type { StoredEvent } from '../../model/event.ts';
import type { Seq } from '../../model/ids.ts';
import type { JournalEntry } from '../../model/journal.ts';
import type { Page } from '../../model/page.ts';
import type { Task } from '../../model/task.ts';
import type { TaskView } from '../../model/task-view.ts';
import { artifactOf, speechOf } from '../content.ts';
import type { Grant, Snapshot, SnapshotWant, TaskQuery, TurnMaterial } from '../contract.ts';
import { roughBytes, withOwnBytes } from './frozen.ts';
import type { ArtifactRecord, TaskRecord } from './records.ts';

export function viewOf(record: TaskRecord): TaskView {
  const turns = record.turns.map(({ turn }) => turn);
  const turn = turns.find(({ state }) => state === 'current') ?? turns.findLast(({ state }) => state === 'settled');
  if (turn === undefined) throw new CodedError('internal', { message: `Task ${record.task.id} has no turn.` });
  return {
    task: record.task,
    turn,
    ...(record.activeRun === undefined ? {} : { run: record.activeRun }),
    open: turn.state === 'current' ? journalOf(record, turn.turnNo).filter(isOpenSuspension) : [],
    queued: turns.filter(({ state }) => state === 'queued'),
  };
}

function journalOf(record: TaskRecord, turnNo: TaskView['turn']['turnNo']): readonly JournalEntry[] {
  return [...(record.journal?.get(turnNo)?.values() ?? [])];
}

function isOpenSuspension(entry: JournalEntry): boolean {
  return entry.state === 'open' && entry.kind !== 'step';
}

export function snapshotOf(record: TaskRecord, want: SnapshotWant): Snapshot {
  const content = {
    ...speechOf(record.speech, want.historyMax),
    artifacts: want.artifacts ? [...(record.artifacts?.values() ?? [])].map(artifactOfRecord) : [],
  };
  return { task: record.task, content: owned(record, content) };
}

export function artifactOfRecord({ entry, chunks }: ArtifactRecord): Artifact {
  return artifactOf(entry, chunks);
}

/** The value for one reader: bytes in it are the reader's own. */
export function owned<Value>(record: TaskRecord, value: Value): Value {
  return record.holdsBytes ? withOwnBytes(value) : value;
}

export function turnMaterialOf(record: TaskRecord, grant: Grant): TurnMaterial {
  const { turnNo } = grant.turn;
  const held = record.turns.find(({ turn }) => turn.turnNo === turnNo);
  const message = held === undefined ? undefined : record.log[held.turn.messageSeq - 1];
  if (message?.kind !== 'message-received') throw new CodedError('internal', { message: 'A turn has a message.' });
  return {
    ...snapshotOf(record, { artifacts: true }),
    message: owned(record, message),
    ...(held?.input === undefined ? {} : { input: Uint8Array.from(held.input) }),
    journal: journalOf(record, turnNo),
  };
}

export function eventsOf(
  record: TaskRecord,
  range: { readonly after: Seq; readonly eventsMax: number; readonly bytesMax: number },
): readonly StoredEvent[] {
  const events: StoredEvent[] = [];
  let bytes = 0;
  // Most logs are shorter than any bound, and measuring costs more than reading.
  const isMeasured = range.bytesMax < limits.readBytesMax || record.log.length - range.after > 16;
  for (let at = range.after as number; at < record.log.length && events.length < range.eventsMax; at += 1) {
    const event = record.log[at] as StoredEvent;
    events.push(event);
    if (isMeasured) bytes += roughBytes(event);
    if (bytes >= range.bytesMax) break;
  }
  return owned(record, events);
}

/**
 * A page of rows, newest status first. One pass that keeps the best few: a scope of many rows is not sorted for a page of
 * fifty. It begins at the newest row, since most rows move seldom, so that few of the others displace one.
 */
export function pageOf(records: readonly TaskRecord[], query: TaskQuery): Page<Task> {
  const best: Task[] = [];
  for (let at = records.length - 1; at >= 0; at -= 1) {
    const { task } = records[at] as TaskRecord;
    if (!matches(task, query) || !isAfter(task, query.after)) continue;
    const worst = best.at(-1);
    if (best.length > query.pageItems && worst !== undefined && order(worst, task) < 0) continue;
    best.splice(placeOf(best, task), 0, task);
    if (best.length > query.pageItems + 1) best.pop();
  }
  return { items: best.slice(0, query.pageItems), more: best.length > query.pageItems };
}

export function matches(task: Task, query: Omit<TaskQuery, 'pageItems' | 'after'>): boolean {
  if (query.contextId !== undefined && task.contextId !== query.contextId) return false;
  if (query.state !== undefined && task.state !== query.state) return false;
  return query.stateAtFrom === undefined || task.stateAt >= query.stateAtFrom;
}

function isAfter(task: Task, after: TaskQuery['after']): boolean {
  return after === undefined || order(after, task) < 0;
}

function order(a: Pick<Task, 'stateAt' | 'no'>, b: Pick<Task, 'stateAt' | 'no'>): number {
  return b.stateAt - a.stateAt || b.no - a.no;
}

function placeOf(sorted: readonly Task[], task: Task): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (order(sorted[middle] as Task, task) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
