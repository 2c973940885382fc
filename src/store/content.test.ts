import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ArtifactEntry } from '../model/artifact.ts';
import type { NewEvent, StoredEvent } from '../model/event.ts';
import { emptyContent, foldContent } from '../model/task-fold.ts';
import { type ArtifactEffect, artifactEffect } from './artifact-effect.ts';
import { type ArtifactEvent, artifactOf, type SpeechEvent, speechOf } from './content.ts';

const words = fc.string({ maxLength: 2 });
const messageOf = (text: string) => ({ messageId: 'm', role: 'agent', parts: [{ kind: 'text', text }] });
const artifactId = fc.constantFrom('a', 'b');
const event = fc.oneof(
  { weight: 1, arbitrary: words.map((text) => ({ kind: 'message-received', message: messageOf(text), turnNo: 1 })) },
  {
    weight: 1,
    arbitrary: words.map((text) => ({ kind: 'status-changed', state: 'working', message: messageOf(text) })),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'status-changed', state: 'working' }) },
  { weight: 1, arbitrary: artifactId.map((id) => ({ kind: 'artifact-discarded', artifactId: id })) },
  {
    weight: 5,
    arbitrary: fc.tuple(artifactId, words, fc.boolean(), fc.boolean()).map(([id, text, append, lastChunk]) => ({
      kind: 'artifact-updated',
      artifactId: id,
      origin: 'output',
      turnNo: 1,
      runNo: 7,
      header: { name: text },
      parts: [{ kind: 'text', text }],
      append,
      lastChunk,
    })),
  },
) as unknown as fc.Arbitrary<NewEvent>;

const log = fc
  .array(event, { maxLength: 30 })
  .map((events) => events.map((each, index) => ({ ...each, seq: index + 1, at: 0 }) as unknown as StoredEvent));

/** What a database does with the effects: rows by artifact id, in the order of their making. */
function rowsOf(events: readonly StoredEvent[]): readonly ArtifactEntry[] {
  const rows = new Map<string, ArtifactEntry>();
  const act = (effect: ArtifactEffect): unknown => {
    if (effect.kind === 'discard') return rows.delete(effect.artifactId);
    if (effect.kind === 'close') {
      const row = rows.get(effect.artifactId);
      return row && rows.set(effect.artifactId, { ...row, closedSeq: effect.closedSeq });
    }
    const { entry } = effect;
    const known = rows.get(entry.artifactId);
    if (known === undefined) return rows.set(entry.artifactId, entry);
    if (effect.kind === 'put') {
      return rows.set(entry.artifactId, effect.keepHeader ? { ...entry, header: known.header } : entry);
    }
    return entry.closedSeq && rows.set(entry.artifactId, { ...known, closedSeq: entry.closedSeq });
  };
  for (const each of events) {
    const effect = artifactEffect(each);
    if (effect !== undefined) act(effect);
  }
  return [...rows.values()];
}

test('content made from rows is the fold of the log', () => {
  fc.assert(
    fc.property(log, (events) => {
      const folded = events.reduce(foldContent, emptyContent);
      const speech = events.filter(
        (each): each is SpeechEvent => each.kind === 'message-received' || each.kind === 'status-changed',
      );
      const artifacts = rowsOf(events).map((entry) =>
        artifactOf(
          entry,
          events.filter(
            (each): each is ArtifactEvent =>
              each.kind === 'artifact-updated' && each.artifactId === entry.artifactId && each.seq >= entry.baseSeq,
          ),
        ),
      );
      expect({ ...speechOf(speech), artifacts }).toEqual(folded);
      for (const historyMax of [0, 1, 3]) {
        const history = historyMax === 0 ? [] : folded.history.slice(-historyMax);
        expect(speechOf(speech, historyMax).history).toEqual(history);
      }
    }),
    { numRuns: 300, seed: 1 },
  );
});

test('a chunk that neither opens nor closes touches no artifact row', () => {
  const chunk = { kind: 'artifact-updated', artifactId: 'a', parts: [], append: true, lastChunk: false, seq: 9 };
  expect(artifactEffect(chunk as unknown as StoredEvent)).toBeUndefined();
  const last = { ...chunk, lastChunk: true };
  expect(artifactEffect(last as unknown as StoredEvent)).toEqual({ kind: 'close', artifactId: 'a', closedSeq: 9 });
});
