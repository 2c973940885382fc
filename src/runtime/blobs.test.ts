import { describe, expect, test } from 'vitest';
import { limits } from '../base/limits.ts';
import type { BlobPart, RawPart } from '../model/message.ts';
import type { SystemStore } from '../store/contract.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { countingStore } from '../testing/intercepted-store.ts';
import { textMessage } from '../testing/runtime-node.ts';
import { needsStaging, stageParts } from './blob-staging.ts';
import { BlobSlices, resolveParts } from './blobs.ts';

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

describe('the slices of a blob', () => {
  const stagedBlob = async (store: SystemStore, length: number): Promise<BlobPart> => {
    const { parts } = await stageParts(store, [raw(length)]);
    return parts[0] as BlobPart;
  };
  const read = async (slices: AsyncIterable<Uint8Array>): Promise<Buffer> => {
    const read: Uint8Array[] = [];
    for await (const slice of slices) read.push(slice);
    return Buffer.concat(read);
  };

  test('come in order, and once from the store for all who are at one place', async () => {
    const { store, calls } = countingStore(await openMemoryStore());
    const length = 2 * limits.blobSliceBytes + 5;
    const blob = await stagedBlob(store, length);
    const slices = new BlobSlices(store);
    const files = await Promise.all(Array.from({ length: 20 }, () => read(slices.of(blob))));
    for (const file of files) expect(file.equals(raw(length).raw)).toBe(true);
    expect(calls.get('readBlobSlice')).toBe(3);
  });

  test('are not kept beyond the bound, nor where reading them failed', async () => {
    const { store, calls } = countingStore(await openMemoryStore());
    const length = limits.heldSlicesBytesMax + limits.blobSliceBytes;
    const blob = await stagedBlob(store, length);
    const slices = new BlobSlices(store);
    await read(slices.of(blob));
    await read(slices.of(blob));
    const count = length / limits.blobSliceBytes;
    expect(calls.get('readBlobSlice')).toBe(2 * count);

    let isBroken = true;
    const failing = new BlobSlices({
      readBlobSlice: (...at) => (isBroken ? Promise.reject(new Error('broken')) : store.readBlobSlice(...at)),
    });
    await expect(read(failing.of(blob))).rejects.toThrow('broken');
    isBroken = false;
    expect(await read(failing.of(blob))).toHaveLength(length);
  });

  test('are an error where one is missing, never fewer bytes', async () => {
    const store = await openMemoryStore();
    const blob = await stagedBlob(store, limits.blobSliceBytes + 1);
    const reader = {
      readBlobSlice: (...at: Parameters<typeof store.readBlobSlice>) =>
        at[1] === 1 ? Promise.resolve(undefined) : store.readBlobSlice(...at),
    };
    await expect(resolveParts(reader, [blob])).rejects.toMatchObject({ code: 'internal' });
    await expect(read(new BlobSlices(reader).of(blob))).rejects.toMatchObject({ code: 'internal' });
  });
});
