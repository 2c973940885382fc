import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NewEvent } from '../../model/event.ts';
import type { Part } from '../../model/message.ts';
import { decodeEvent, encodeEvent } from './event-codec.ts';

const stored = (event: NewEvent) => {
  const { kind, artifactId, runNo, payload } = encodeEvent(event);
  return decodeEvent({ seq: 7, at: 9, kind, artifact_id: artifactId, run_no: runNo, payload });
};

function chunkOf(parts: readonly Part[]): NewEvent {
  return {
    kind: 'artifact-updated',
    artifactId: 'a' as never,
    origin: 'output',
    turnNo: 1 as never,
    runNo: 2 as never,
    parts,
    append: true,
    lastChunk: false,
  };
}

test('what is stored is pinned: files of released versions hold it', () => {
  const parts: readonly Part[] = [
    { kind: 'text', text: 'hi', metadata: { b: 1, a: 2 } },
    { kind: 'raw', raw: Uint8Array.from([1, 2, 3]), filename: 'x.bin', mediaType: 'a/b' },
    { kind: 'blob', blobNo: 5 as never, bytes: 70_000, sha256: 'ab' },
    { kind: 'url', url: 'https://example.com/' },
    { kind: 'data', data: null },
    { kind: 'withheld', of: 'raw' },
  ];
  expect(encodeEvent(chunkOf(parts))).toEqual({
    kind: 4,
    audience: 0,
    artifactId: 'a',
    runNo: 2,
    payload:
      '{"turn":1,"parts":[{"text":"hi","metadata":{"b":1,"a":2}},' +
      '{"raw":"AQID","mediaType":"a/b","filename":"x.bin"},{"blob":5,"bytes":70000,"sha256":"ab"},' +
      '{"url":"https://example.com/"},{"data":null},{"withheld":"raw"}],"append":true}',
  });
  const message = { messageId: 'm' as never, role: 'agent' as const, parts: [], taskId: 't' as never };
  expect(encodeEvent({ kind: 'status-changed', state: 'failed', message, errorId: 'e' })).toEqual({
    kind: 3,
    audience: 0,
    artifactId: null,
    runNo: null,
    payload: '{"state":"failed","message":{"id":"m","role":"agent","parts":[],"task":"t"},"errorId":"e"}',
  });
});

test('any part comes back as it was, whatever its texts and keys', () => {
  const json = fc.jsonValue({ stringUnit: 'binary' }) as fc.Arbitrary<never>;
  const common = fc.record(
    {
      mediaType: fc.string({ unit: 'binary' }),
      filename: fc.string({ unit: 'binary' }),
      metadata: fc.dictionary(fc.string(), json),
    },
    { requiredKeys: [] },
  );
  const part: fc.Arbitrary<Part> = fc
    .tuple(
      fc.oneof(
        fc.record({ kind: fc.constant('text' as const), text: fc.string({ unit: 'binary' }) }),
        fc.record({ kind: fc.constant('raw' as const), raw: fc.uint8Array() }),
        fc.record({ kind: fc.constant('data' as const), data: json }),
      ),
      common,
    )
    .map(([own, more]) => ({ ...own, ...more }));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
      const event = chunkOf(parts);
      const expected = JSON.stringify({ ...event, seq: 7, at: 9 });
      expect(JSON.stringify(stored(event))).toBe(expected);
    }),
    { seed: 20_260_101, numRuns: 300 },
  );
});

test('text that UTF-8 cannot hold is plain ASCII in the payload', () => {
  const { payload } = encodeEvent(chunkOf([{ kind: 'text', text: 'a\u0000\ud800b' }]));
  expect(payload).toContain('a\\u0000\\ud800b');
  expect(payload.isWellFormed()).toBe(true);
});

test('a kind that a newer version wrote keeps its place and says nothing else', () => {
  const row = { seq: 3, at: 1, kind: 99, artifact_id: 'a', run_no: 2, payload: '{"state":"completed","x":[1]}' };
  expect(decodeEvent(row)).toEqual({ kind: 'unknown', seq: 3, at: 1 });
});
