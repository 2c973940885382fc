import { unreachable } from '../../base/assert.ts';
import type { BlobNo } from '../../model/ids.ts';
import { JOURNAL_KIND_NUMBERS, JOURNAL_STATE_NUMBERS } from '../../model/journal.ts';
import type { JournalWrite } from '../../model/task-write.ts';
import type { ArtifactEffect } from '../artifact-effect.ts';
import type { Dialect } from '../sql/dialect.ts';
import { ARTIFACT_ORIGIN_NUMBERS } from '../sql/row-codec.ts';
import type { Statement } from './database.ts';
import { expecting, movedTask, type TaskPlaceKey } from './moved-task.ts';
import { Parameters } from './parameters.ts';

/** Room for the facts of one grant between two heads. */
const EMISSIONS_PER_SEQ = 2 ** 20;

/**
 * Puts one journal row; one that is replaced keeps its place. A later write has a larger head, or the same head
 * and a larger emit number, so the two together order a journal. `emitOffset` counts from the emit number after the change.
 */
export function putJournalEntry(d: Dialect, key: TaskPlaceKey, entry: JournalWrite, emitOffset: number): Statement {
  const p = new Parameters();
  const text = `insert into ${d.table('step')}
      (task_no, turn_no, step_key, ordinal, kind, state, due_at, question, result)
    select t.no, ${p.add(entry.turnNo)}, ${p.add(entry.key)},
      t.head_seq * ${EMISSIONS_PER_SEQ} + (t.emit_no + ${p.add(emitOffset, 'bigint')}) % ${EMISSIONS_PER_SEQ},
      ${JOURNAL_KIND_NUMBERS[entry.kind]}, ${JOURNAL_STATE_NUMBERS[entry.state]}, ${p.add(entry.dueAt ?? null)},
      ${p.add(entry.question === undefined ? null : JSON.stringify(entry.question))}, ${p.add(entry.result ?? null)}
    from ${movedTask(d, p, key)}
    on conflict (task_no, turn_no, step_key) do update
    set kind = excluded.kind, state = excluded.state, due_at = excluded.due_at, question = excluded.question,
      result = excluded.result`;
  return { text, values: p.values };
}

/** Puts one key of the state of the task's session; undefined deletes it. */
export function writeSessionState(
  d: Dialect,
  key: TaskPlaceKey,
  entry: { readonly key: string; readonly value: string | undefined },
): Statement {
  const p = new Parameters();
  if (entry.value === undefined) {
    const text = `delete from ${d.table('session_state')} k
      using ${movedTask(d, p, key)} and k.session_no = t.session_no and k.key = ${p.add(entry.key)}`;
    return { text, values: p.values };
  }
  const text = `insert into ${d.table('session_state')} (session_no, key, value)
    select t.session_no, ${p.add(entry.key)}, ${p.add(entry.value)}
    from ${movedTask(d, p, key)}
    on conflict (session_no, key) do update set value = excluded.value`;
  return { text, values: p.values };
}

/** Makes staged blobs the task's. Fails when one is gone: the log would name bytes that are not there. */
export function takeUpBlobs(d: Dialect, key: TaskPlaceKey, blobNos: readonly BlobNo[]): Statement {
  const p = new Parameters();
  const text = `update ${d.table('blob')} b
      set task_no = t.no
      from ${movedTask(d, p, key)} and b.no = any (${p.add(blobNos, 'bigint[]')})
        and (b.task_no is null or b.task_no = t.no)`;
  return expecting(d, p, key, { count: new Set(blobNos).size, text });
}

/**
 * Does what an event does to the artifact rows of its task. The event stood among `eventCount` that the change appended, and the
 * effect's seqs are its ordinal there.
 */
export function writeArtifact(d: Dialect, key: TaskPlaceKey, effect: ArtifactEffect, eventCount: number): Statement {
  switch (effect.kind) {
    case 'put':
    case 'open':
      return putArtifact(d, key, effect, eventCount);
    case 'close': {
      const p = new Parameters();
      const text = `update ${d.table('artifact')} a
        set closed_seq = ${seqOf(p, effect.closedSeq, eventCount)}
        from ${movedTask(d, p, key)} and a.task_no = t.no and a.artifact_id = ${p.add(effect.artifactId)}`;
      return { text, values: p.values };
    }
    case 'discard': {
      const p = new Parameters();
      const text = `delete from ${d.table('artifact')} a
        using ${movedTask(d, p, key)} and a.task_no = t.no and a.artifact_id = ${p.add(effect.artifactId)}`;
      return { text, values: p.values };
    }
    default:
      return unreachable(effect);
  }
}

type Put = Extract<ArtifactEffect, { readonly entry: unknown }>;

function putArtifact(d: Dialect, key: TaskPlaceKey, effect: Put, eventCount: number): Statement {
  const p = new Parameters();
  const { entry } = effect;
  const baseSeq = seqOf(p, entry.baseSeq, eventCount);
  const closedSeq = entry.closedSeq === undefined ? 'null' : seqOf(p, entry.closedSeq, eventCount);
  const text = `insert into ${d.table('artifact')}
      (task_no, artifact_id, origin, turn_no, run_no, opened_seq, base_seq, closed_seq, header)
    select t.no, ${p.add(entry.artifactId)}, ${ARTIFACT_ORIGIN_NUMBERS[entry.origin]}, ${p.add(entry.turnNo)}, ${p.add(entry.runNo ?? null)},
      ${baseSeq}, ${baseSeq}, ${closedSeq}, ${p.add(JSON.stringify(entry.header))}
    from ${movedTask(d, p, key)}
    on conflict (task_no, artifact_id) ${onKnown(effect)}`;
  return { text, values: p.values };
}

/** `put` replaces all but the place, and the header only by one that the event brought; `open` of a known artifact can only close it. */
function onKnown(effect: Put): string {
  if (effect.kind === 'open') {
    return effect.entry.closedSeq === undefined ? 'do nothing' : 'do update set closed_seq = excluded.closed_seq';
  }
  const columns = ['origin', 'turn_no', 'run_no', 'base_seq', 'closed_seq', ...(effect.keepHeader ? [] : ['header'])];
  return `do update set ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}`;
}

function seqOf(p: Parameters, ordinal: number, eventCount: number): string {
  return `t.head_seq - ${p.add(eventCount - ordinal)}`;
}
