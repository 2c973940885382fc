import type { Instant } from '../../base/clock.ts';
import type { ArtifactEntry } from '../../model/artifact.ts';
import type { NewEvent, StoredEvent } from '../../model/event.ts';
import type { TaskNo } from '../../model/ids.ts';
import { type ArtifactEffect, artifactEffect } from '../artifact-effect.ts';
import { placeEvents } from '../place-events.ts';
import { type EventColumns, encodeEvent } from '../sql/event-codec.ts';
import { ARTIFACT_ORIGIN_NUMBERS } from '../sql/row-codec.ts';
import type { Connection } from './connection.ts';

/** Events and their columns. They are encoded when a write is handed in: what the caller changes later changes nothing. */
export interface PreparedEvents {
  readonly events: readonly NewEvent[];
  readonly columns: readonly EventColumns[];
  readonly bytes: number;
}

/** A row costs about this much beside its text. */
export const ROW_BYTES = 100;

export function prepareEvents(events: readonly NewEvent[]): PreparedEvents {
  const columns = events.map(encodeEvent);
  return { events, columns, bytes: columns.reduce((sum, { payload }) => sum + payload.length + ROW_BYTES, 0) };
}

const INSERT_EVENT = `
  insert into event (task_no, seq, seq_first, run_no, kind, audience, artifact_id, at, bytes, payload)
  values (?1, ?2, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`;

/** Gives the events the places after `headSeq` and writes them, with what they do to the artifact rows. */
export function writeEvents(
  tx: Connection,
  prepared: PreparedEvents,
  place: { readonly taskNo: TaskNo; readonly headSeq: number; readonly at: Instant },
): readonly StoredEvent[] {
  if (prepared.events.length === 0) return [];
  const placed = placeEvents(prepared.events, place);
  writePlacedEvents(tx, place.taskNo, { columns: prepared.columns, placed });
  return placed;
}

/** Writes events that have their places already. */
export function writePlacedEvents(
  tx: Connection,
  taskNo: TaskNo,
  events: { readonly columns: readonly EventColumns[]; readonly placed: readonly StoredEvent[] },
): void {
  const { columns, placed } = events;
  placed.forEach((event, index) => {
    const column = columns[index] as EventColumns;
    const { runNo, kind, audience, artifactId, payload } = column;
    const bytes = Buffer.byteLength(payload);
    // Payloads are JSON and ids are printable: neither holds what a text would have to be escaped for.
    tx.insertRaw(INSERT_EVENT, taskNo, event.seq, runNo, kind, audience, artifactId, event.at, bytes, payload);
    const effect = artifactEffect(event);
    if (effect !== undefined) writeArtifact(tx, taskNo, effect);
  });
}

const INSERT_ARTIFACT = `
  insert into artifact (task_no, artifact_id, origin, turn_no, run_no, opened_seq, base_seq, closed_seq, header)
  values (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?8)`;

/** \`opened_seq\` stays, so that the artifact keeps its place among the others. */
const PUT_ARTIFACT = `${INSERT_ARTIFACT}
  on conflict (task_no, artifact_id) do update
  set origin = excluded.origin, turn_no = excluded.turn_no, run_no = excluded.run_no,
    base_seq = excluded.base_seq, closed_seq = excluded.closed_seq,
    header = case when ?9 then header else excluded.header end`;

const OPEN_ARTIFACT = `${INSERT_ARTIFACT}
  on conflict (task_no, artifact_id) do update
  set closed_seq = coalesce(excluded.closed_seq, closed_seq)`;

const CLOSE_ARTIFACT = `
  update artifact
  set closed_seq = ?3
  where task_no = ?1 and artifact_id = ?2`;

const DELETE_ARTIFACT = `
  delete from artifact
  where task_no = ?1 and artifact_id = ?2`;

function writeArtifact(tx: Connection, taskNo: TaskNo, effect: ArtifactEffect): void {
  switch (effect.kind) {
    case 'put':
      tx.run(PUT_ARTIFACT, ...artifactValues(taskNo, effect.entry), effect.keepHeader ? 1 : 0);
      return;
    case 'open':
      tx.run(OPEN_ARTIFACT, ...artifactValues(taskNo, effect.entry));
      return;
    case 'close':
      tx.run(CLOSE_ARTIFACT, taskNo, effect.artifactId, effect.closedSeq);
      return;
    case 'discard':
      tx.run(DELETE_ARTIFACT, taskNo, effect.artifactId);
      return;
  }
}

function artifactValues(taskNo: TaskNo, entry: ArtifactEntry): (string | number | null)[] {
  const { artifactId, turnNo, runNo = null, baseSeq, closedSeq = null, header } = entry;
  const origin = ARTIFACT_ORIGIN_NUMBERS[entry.origin];
  return [taskNo, artifactId, origin, turnNo, runNo, baseSeq, closedSeq, JSON.stringify(header)];
}
