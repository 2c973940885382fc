import { describe, expect, test } from 'vitest';
import { instant } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Seq, TurnNo } from '../model/ids.ts';
import type { RawPart } from '../model/message.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { countingStore } from '../testing/intercepted-store.ts';
import { textMessage } from '../testing/runtime-node.ts';
import { needsStaging, stageParts } from './blob-staging.ts';
import { resolveContent, resolveEvent, resolveParts } from './blobs.ts';

const raw = (length: number): RawPart => ({
  kind: 'raw',
  raw: Uint8Array.from({ length }, (_byte, at) => at % 251),
  filename: 'photo.jpg',
  mediaType: 'image/jpeg',
});

describe('staged parts', () => {
  test('a small part stays, a large one is cut into slices and comes back whole', async () => {
    const { store, calls } = countingStore(await openMemoryStore());
    const large = raw(3 * limits.blobSliceBytes + 7);
    const { parts, blobs } = await stageParts(store, [raw(limits.inlineRawBytesMax), large]);
    expect(parts.map((part) => part.kind)).toEqual(['raw', 'blob']);
    expect(parts[1]).toMatchObject({ filename: 'photo.jpg', mediaType: 'image/jpeg', bytes: large.raw.length });
    expect(blobs).toHaveLength(1);
    expect(calls.get('stageSlice')).toBe(4);
    expect(await resolveParts(store, parts)).toEqual([raw(limits.inlineRawBytesMax), large]);
  });

  test('parts without bytes cost no call', async () => {
    const { store, calls } = countingStore(await openMemoryStore());
    const { parts } = textMessage('m', 'hello');
    expect(needsStaging(parts)).toBe(false);
    expect(await stageParts(store, parts)).toEqual({ parts, blobs: [] });
    expect(calls.size).toBe(0);
  });
});

describe('resolved content', () => {
  test('has its bytes in messages, status and artifacts; what holds none is not copied', async () => {
    const store = await openMemoryStore();
    const large = raw(limits.inlineRawBytesMax + 1);
    const { parts } = await stageParts(store, [large]);
    const message = { ...textMessage('m', 'x'), parts };
    const artifact = { artifactId: 'a' as never, origin: 'output', turnNo: 1 as TurnNo, header: {}, parts } as const;
    const content = await resolveContent(store, {
      history: [message],
      statusMessage: message,
      artifacts: [{ ...artifact, baseSeq: 1 as Seq }],
    });
    expect([content.history[0]?.parts, content.statusMessage?.parts, content.artifacts[0]?.parts]).toEqual([
      [large],
      [large],
      [large],
    ]);
    const plain = { history: [textMessage('m', 'x')], artifacts: [] };
    expect(await resolveContent(store, plain)).toBe(plain);
    const received = { kind: 'message-received', message, turnNo: 1 as TurnNo, seq: 1 as Seq, at: instant(0) } as const;
    expect(await resolveEvent(store, received)).toMatchObject({ message: { parts: [large] } });
    const fired = { kind: 'timer-fired', key: 'k', seq: 1 as Seq, at: instant(0) } as const;
    expect(await resolveEvent(store, fired)).toBe(fired);
  });

  test('a blob with a slice missing is an error, never fewer bytes', async () => {
    const store = await openMemoryStore();
    const { parts } = await stageParts(store, [raw(limits.blobSliceBytes + 1)]);
    const reader = {
      readBlobSlice: (...at: Parameters<typeof store.readBlobSlice>) =>
        at[1] === 1 ? Promise.resolve(undefined) : store.readBlobSlice(...at),
    };
    await expect(resolveParts(reader, parts)).rejects.toMatchObject({ code: 'internal' });
  });
});
