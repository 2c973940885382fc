import type { StoredEvent } from '../../model/event.ts';
import type { Seq } from '../../model/ids.ts';
import type { JournalEntry } from '../../model/journal.ts';
import type { JournalWrite } from '../../model/task-write.ts';
import { openedEntry } from '../artifact-effect.ts';
import { frozenCopy, holdsBytes } from './frozen.ts';
import type { SessionRecord, TaskRecord } from './records.ts';
import type { TaskDraft } from './task-draft.ts';

/** Puts a draft that was checked in place of what it was made from. Nothing in here can fail half way. */
export function applyDraft(draft: TaskDraft, messageSeq: Seq | undefined): void {
  const { record, tables, message } = draft;
  const before = { state: record.task.state, run: record.activeRun };
  const isNew = !tables.tasks.has(record.task.no);
  record.task = draft.task;
  for (const event of draft.events) addEvent(record, event);
  tables.eventCount += draft.events.length;
  if (draft.runs !== record.runs) {
    for (const run of draft.runs.slice(record.runs.length)) tables.runIds.add(run.id);
    record.runs = draft.runs;
    record.activeRun = draft.runs.findLast((run) => run.state !== 'settled');
  }
  record.turns = draft.turns;
  for (const write of draft.journal) putJournal(record, write);
  for (const [key, value] of draft.sessionState) putSessionState(record.session, key, value);
  for (const blobNo of draft.blobs) tables.blobs.takeUp(blobNo, record.task.no);
  if (isNew) tables.addTask(record);
  else tables.moveTask(record, before.state);
  tables.moveRun(record, before.run);
  if (message === undefined || messageSeq === undefined) return;
  const { messageId, fingerprint, turnNo } = message;
  tables
    .openScope(record.task.agent, record.task.scope)
    .messages.set(messageId, { state: 'task', record, turnNo, messageSeq, fingerprint: frozenCopy(fingerprint) });
}

function addEvent(record: TaskRecord, event: StoredEvent): void {
  record.log.push(event);
  if (!record.holdsBytes && holdsBytes(event)) record.holdsBytes = true;
  if (event.kind === 'message-received' || event.kind === 'status-changed') record.speech.push(event);
  else if (event.kind === 'artifact-updated' || event.kind === 'artifact-discarded') changeArtifact(record, event);
}

function putSessionState(session: SessionRecord, key: string, value: string | undefined): void {
  session.state ??= new Map();
  if (value === undefined) session.state.delete(key);
  else session.state.set(key, value);
}

function changeArtifact(
  record: TaskRecord,
  event: StoredEvent & { readonly kind: 'artifact-updated' | 'artifact-discarded' },
): void {
  record.artifacts ??= new Map();
  const { artifacts } = record;
  const known = artifacts.get(event.artifactId);
  if (event.kind === 'artifact-discarded') artifacts.delete(event.artifactId);
  else if (known === undefined) {
    artifacts.set(event.artifactId, { entry: Object.freeze(openedEntry(event)), chunks: [event] });
  } else if (event.append) {
    known.chunks.push(event);
    if (event.lastChunk) known.entry = Object.freeze({ ...known.entry, closedSeq: event.seq });
  } else {
    known.entry = Object.freeze({ ...openedEntry(event), header: event.header ?? known.entry.header });
    known.chunks = [event];
  }
}

function putJournal(record: TaskRecord, write: JournalWrite): void {
  const { turnNo, ...entry } = write;
  record.journal ??= new Map();
  const journal = record.journal.get(turnNo) ?? new Map<string, JournalEntry>();
  record.journal.set(turnNo, journal);
  journal.set(entry.key, frozenCopy(entry));
}
