import { assert } from '../../base/assert.ts';
import type { Artifact } from '../../model/artifact.ts';
import type { StoredEvent } from '../../model/event.ts';
import type { ArtifactId, TaskNo } from '../../model/ids.ts';
import { type ArtifactEvent, artifactOf, type SpeechEvent, speechOf } from '../content.ts';
import type { Grant, Snapshot, SnapshotWant, TurnMaterial } from '../contract.ts';
import {
  selectArtifact,
  selectArtifacts,
  selectChunks,
  selectChunksOf,
  selectEvent,
  selectSpeechBefore,
} from '../sql/content-reads.ts';
import { decodeEvent, type EventRow } from '../sql/event-codec.ts';
import {
  type ArtifactRow,
  decodeArtifactEntry,
  decodeJournalEntry,
  decodeTask,
  type JournalRow,
  type TaskRow,
} from '../sql/row-codec.ts';
import { selectJournal, selectTurnInput } from '../sql/turn-reads.ts';
import type { Row, RunStatements } from './database.ts';
import type { TaskPlaceKey } from './moved-task.ts';
import type { PostgresContext } from './postgres-context.ts';
import { leaseLost } from './task-guards.ts';
import { selectTask } from './view-reads.ts';

/** `ScopedStore.readSnapshot`: all of it from one moment of the database. */
export function readSnapshot(
  context: PostgresContext,
  key: TaskPlaceKey,
  want: SnapshotWant,
): Promise<Snapshot | undefined> {
  return context.database.snapshot(async (run) => {
    const [rows] = await run([selectTask(context.d, key)]);
    const row = rows?.[0] as TaskRow | undefined;
    if (row === undefined) return undefined;
    const task = decodeTask(row);
    const speech = await readSpeech(context, run, { taskNo: task.no, messagesMax: want.historyMax });
    const artifacts = want.artifacts ? await readArtifacts(context, run, task.no) : [];
    return { task, content: { ...speechOf(speech, want.historyMax), artifacts } };
  });
}

/** `SystemStore.readTurn`. */
export function readTurnMaterial(context: PostgresContext, grant: Grant): Promise<TurnMaterial> {
  const { d } = context;
  const { taskNo, turn } = grant;
  return context.database.snapshot(async (run) => {
    const [tasks, messages, inputs, journal] = await run([
      selectTask(d, { taskNo }),
      selectEvent(d, taskNo, turn.messageSeq),
      selectTurnInput(d, taskNo, turn.turnNo),
      selectJournal(d, taskNo, turn.turnNo),
    ]);
    const row = tasks?.[0] as TaskRow | undefined;
    if (row === undefined) throw leaseLost(grant);
    const message = decodeEvents(messages)[0];
    assert(message?.kind === 'message-received', 'a turn names the event that holds its message');
    const speech = await readSpeech(context, run, { taskNo, messagesMax: undefined });
    const artifacts = await readArtifacts(context, run, taskNo);
    const input = inputs?.[0]?.input as Uint8Array | null | undefined;
    return {
      task: decodeTask(row),
      content: { ...speechOf(speech), artifacts },
      message,
      ...(input === null || input === undefined ? {} : { input }),
      journal: (journal ?? []).map((entry) => decodeJournalEntry(entry as unknown as JournalRow)),
    };
  });
}

/** `ScopedStore.readArtifact`. */
export function readArtifact(
  context: PostgresContext,
  key: TaskPlaceKey,
  artifactId: ArtifactId,
): Promise<Artifact | undefined> {
  const { d } = context;
  return context.database.snapshot(async (run) => {
    const [tasks] = await run([selectTask(d, key)]);
    const task = tasks?.[0] as TaskRow | undefined;
    if (task === undefined) return undefined;
    const [rows] = await run([selectArtifact(d, task.no, artifactId)]);
    const row = rows?.[0] as ArtifactRow | undefined;
    if (row === undefined) return undefined;
    const entry = decodeArtifactEntry(row);
    const [chunks] = await run([selectChunksOf(d, task.no, entry)]);
    return artifactOf(entry, decodeEvents(chunks) as readonly ArtifactEvent[]);
  });
}

async function readArtifacts({ d }: PostgresContext, run: RunStatements, taskNo: TaskNo): Promise<readonly Artifact[]> {
  const [rows, chunks] = await run([selectArtifacts(d, taskNo), selectChunks(d, taskNo)]);
  const byArtifact = Map.groupBy(decodeEvents(chunks) as readonly ArtifactEvent[], (event) => event.artifactId);
  return (rows ?? []).map((row) => {
    const entry = decodeArtifactEntry(row as unknown as ArtifactRow);
    return artifactOf(entry, byArtifact.get(entry.artifactId) ?? []);
  });
}

/** Statuses without words stand between messages; a page this much longer than the wish mostly holds it. */
const WORDLESS_EVENTS = 16;
const ALL_EVENTS = 2 ** 31 - 1;

/** Messages and statuses in order: all, or from the newest back until they hold the latest status and so many messages before it. */
async function readSpeech(
  { d }: PostgresContext,
  run: RunStatements,
  want: { readonly taskNo: TaskNo; readonly messagesMax: number | undefined },
): Promise<readonly SpeechEvent[]> {
  const { taskNo, messagesMax } = want;
  const eventsMax = messagesMax === undefined ? ALL_EVENTS : messagesMax + WORDLESS_EVENTS;
  let speech: readonly SpeechEvent[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; ; before = speech[0]?.seq ?? 0) {
    const [rows] = await run([selectSpeechBefore(d, taskNo, { before, eventsMax })]);
    speech = [...(decodeEvents(rows) as SpeechEvent[]).reverse(), ...speech];
    if ((rows?.length ?? 0) < eventsMax || holdsMessages(speech, messagesMax)) return speech;
  }
}

function holdsMessages(speech: readonly SpeechEvent[], messagesMax: number | undefined): boolean {
  const status = speech.findLast((event) => event.kind === 'status-changed');
  const messages = speech.filter((event) => event !== status && event.message !== undefined);
  return status !== undefined && messages.length >= (messagesMax ?? Number.POSITIVE_INFINITY);
}

function decodeEvents(rows: readonly Row[] | undefined): StoredEvent[] {
  return (rows ?? []).map((row) => decodeEvent(row as unknown as EventRow));
}
