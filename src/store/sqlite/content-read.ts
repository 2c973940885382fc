import { assert } from '../../base/assert.ts';
import type { Artifact, ArtifactEntry } from '../../model/artifact.ts';
import type { StoredEvent } from '../../model/event.ts';
import type { ArtifactId, Seq, TaskNo } from '../../model/ids.ts';
import type { Task } from '../../model/task.ts';
import type { TaskContent } from '../../model/task-fold.ts';
import { type ArtifactEvent, artifactOf, type SpeechEvent, speechOf } from '../content.ts';
import type { Grant, SnapshotWant, TurnMaterial } from '../contract.ts';
import {
  selectArtifact,
  selectArtifacts,
  selectChunks,
  selectChunksOf,
  selectEvent,
  selectSpeechBefore,
} from '../sql/content-reads.ts';
import { sqliteDialect as d } from '../sql/dialect.ts';
import { decodeEvent, type EventRow } from '../sql/event-codec.ts';
import { type ArtifactRow, decodeArtifactEntry, decodeJournalEntry, type JournalRow } from '../sql/row-codec.ts';
import { selectJournal, selectTurnInput } from '../sql/turn-reads.ts';
import type { Connection } from './connection.ts';

/** Inside a read of one moment, in which `task` was read too. */
export function readContent(db: Connection, task: Task, want: SnapshotWant): TaskContent {
  return { ...readSpeech(db, task, want.historyMax), artifacts: want.artifacts ? readArtifacts(db, task.no) : [] };
}

/** Rows of speech that are read at once when the newest so many messages are wanted: a message has about one status beside it. */
const SPEECH_ROWS_PER_MESSAGE = 2;
const SPEECH_ROWS_MAX = Number.MAX_SAFE_INTEGER;

function readSpeech(db: Connection, task: Task, historyMax: number | undefined): ReturnType<typeof speechOf> {
  if (historyMax === 0) {
    const status = readEvent(db, task.no, task.statusSeq);
    assert(status?.kind === 'status-changed', 'the status seq is the place of a status');
    return speechOf([status], 0);
  }
  const eventsMax = historyMax === undefined ? SPEECH_ROWS_MAX : SPEECH_ROWS_PER_MESSAGE * historyMax + 2;
  let speech: readonly SpeechEvent[] = [];
  for (let before = task.headSeq + 1; ; ) {
    const page = readSpeechBefore(db, task.no, { before, eventsMax });
    speech = [...page, ...speech];
    const isWhole = page.length < eventsMax;
    // What stands before a status moves nothing that stands behind it, so a history may be cut there and nowhere else.
    const cut = isWhole ? 0 : speech.findIndex(({ kind }) => kind === 'status-changed');
    const found = speechOf(cut < 0 ? [] : speech.slice(cut), historyMax);
    if (isWhole || found.history.length === historyMax) return found;
    before = speech[0]?.seq ?? 0;
  }
}

function readSpeechBefore(
  db: Connection,
  taskNo: TaskNo,
  range: { readonly before: number; readonly eventsMax: number },
): readonly SpeechEvent[] {
  const { text, values } = selectSpeechBefore(d, taskNo, range);
  const rows = db.allRaw<EventRow>(text, ...(values as number[]));
  return rows.reverse().map(decodeEvent) as readonly StoredEvent[] as readonly SpeechEvent[];
}

function readEvent(db: Connection, taskNo: TaskNo, seq: Seq): StoredEvent | undefined {
  const [row] = db.allRaw<EventRow>(selectEvent(d, taskNo, seq).text, taskNo, seq);
  return row === undefined ? undefined : decodeEvent(row);
}

export function readArtifactEntries(db: Connection, taskNo: TaskNo): readonly ArtifactEntry[] {
  return db.readAll<ArtifactRow>(selectArtifacts(d, taskNo)).map(decodeArtifactEntry);
}

function readArtifacts(db: Connection, taskNo: TaskNo): readonly Artifact[] {
  const entries = readArtifactEntries(db, taskNo);
  if (entries.length === 0) return [];
  const chunks = new Map<ArtifactId, ArtifactEvent[]>(entries.map(({ artifactId }) => [artifactId, []]));
  const { text } = selectChunks(d, taskNo);
  for (const row of db.eachRaw<EventRow>(text, taskNo)) {
    const event = decodeEvent(row) as ArtifactEvent;
    chunks.get(event.artifactId)?.push(event);
  }
  return entries.map((entry) => artifactOf(entry, chunks.get(entry.artifactId) ?? []));
}

export function readArtifact(db: Connection, taskNo: TaskNo, artifactId: ArtifactId): Artifact | undefined {
  const row = db.readOne<ArtifactRow>(selectArtifact(d, taskNo, artifactId));
  if (row === undefined) return undefined;
  const entry = decodeArtifactEntry(row);
  const { text, values } = selectChunksOf(d, taskNo, entry);
  const events = db.allRaw<EventRow>(text, ...(values as (string | number)[])).map(decodeEvent);
  return artifactOf(entry, events as readonly StoredEvent[] as readonly ArtifactEvent[]);
}

/** Inside a read of one moment, in which `task` was read too. */
export function readTurnMaterial(db: Connection, task: Task, grant: Grant): TurnMaterial {
  const { turnNo, messageSeq } = grant.turn;
  const message = readEvent(db, task.no, messageSeq);
  assert(message?.kind === 'message-received', 'a turn begins with a message');
  const input = db.readOne<{ input: Uint8Array | null }>(selectTurnInput(d, task.no, turnNo))?.input ?? undefined;
  return {
    task,
    content: readContent(db, task, { artifacts: true }),
    message,
    ...(input === undefined ? {} : { input }),
    journal: db.readAll<JournalRow>(selectJournal(d, task.no, turnNo)).map(decodeJournalEntry),
  };
}
