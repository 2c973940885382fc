import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { seededRandom } from '../../src/base/random.ts';
import type { BlobNo, TaskId } from '../../src/model/ids.ts';
import type { BlobPart } from '../../src/model/message.ts';
import { chunk, REFUSED, type StoreWorld } from './builders.ts';
import type { OpenWorld } from './store-suite.ts';

const sha256 = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');

async function stage(world: StoreWorld, data: Uint8Array, sliceBytes: number = limits.blobSliceBytes): Promise<BlobNo> {
  const total = { bytes: data.length, sha256: sha256(data) };
  let blobNo: BlobNo | undefined;
  for (let sliceNo = 0; sliceNo * sliceBytes < data.length; sliceNo += 1) {
    const slice = data.subarray(sliceNo * sliceBytes, (sliceNo + 1) * sliceBytes);
    blobNo = await world.store.stageSlice({ ...(blobNo === undefined ? {} : { blobNo }), sliceNo, data: slice, total });
  }
  return blobNo as BlobNo;
}

async function readBlob(world: StoreWorld, blobNo: BlobNo): Promise<Uint8Array> {
  const slices: Uint8Array[] = [];
  for (let sliceNo = 0; ; sliceNo += 1) {
    const slice = await world.store.readBlobSlice(blobNo, sliceNo);
    if (slice === undefined) return Buffer.concat(slices);
    slices.push(slice);
  }
}

const partOf = (blobNo: BlobNo, data: Uint8Array): BlobPart => ({
  kind: 'blob',
  blobNo,
  bytes: data.length,
  sha256: sha256(data),
});

export function describeBlobs(open: OpenWorld): void {
  describe('blobs', () => {
    describeSlices(open);
    describeStaged(open);
  });
}

function describeSlices(open: OpenWorld): void {
  test('of the largest part come back byte for byte', async () => {
    const world = await open();
    const data = seededRandom(8).bytes(limits.partBytesMax);
    const blobNo = await stage(world, data);
    const read = await readBlob(world, blobNo);
    expect(read.length).toBe(data.length);
    expect(sha256(read)).toBe(sha256(data));
  });

  test('are numbered, and a blob has its own', async () => {
    const world = await open();
    const first = await stage(world, Uint8Array.from([1, 2, 3, 4, 5]), 2);
    const second = await stage(world, Uint8Array.from([9]), 2);
    expect(second).not.toBe(first);
    expect(Array.from((await world.store.readBlobSlice(first, 2)) ?? [])).toEqual([5]);
    expect(Array.from((await world.store.readBlobSlice(second, 0)) ?? [])).toEqual([9]);
    expect(await world.store.readBlobSlice(first, 3)).toBeUndefined();
    expect(await world.store.readBlobSlice(987_654 as BlobNo, 0)).toBeUndefined();
  });

  test('staged again after a lost answer stand once', async () => {
    const world = await open();
    const data = Uint8Array.from([1, 2, 3]);
    const total = { bytes: 3, sha256: sha256(data) };
    const blobNo = await world.store.stageSlice({ sliceNo: 0, data: data.subarray(0, 2), total });
    for (let count = 0; count < 2; count += 1) {
      expect(await world.store.stageSlice({ blobNo, sliceNo: 1, data: data.subarray(2), total })).toBe(blobNo);
    }
    expect(Array.from(await readBlob(world, blobNo))).toEqual([1, 2, 3]);
  });

  test('are copied: what their owner does to the bytes later changes nothing', async () => {
    const world = await open();
    const data = Uint8Array.from([1, 2, 3]);
    const blobNo = await stage(world, data);
    data.fill(0);
    const read = await world.store.readBlobSlice(blobNo, 0);
    expect(Array.from(read ?? [])).toEqual([1, 2, 3]);
    read?.fill(9);
    expect(Array.from((await world.store.readBlobSlice(blobNo, 0)) ?? [])).toEqual([1, 2, 3]);
  });
}

function describeStaged(open: OpenWorld): void {
  const data = Uint8Array.from([1, 2, 3]);
  const drop = (world: StoreWorld, itemsMax = 100) => world.store.dropStagedBlobs({ olderThanMs: 1_000, itemsMax });

  test('that nobody took up go when they are old enough, so many at a time', async () => {
    const world = await open();
    const old = [await stage(world, data), await stage(world, data), await stage(world, data)];
    await world.clock.advance(1_001);
    const young = await stage(world, data);
    expect(await drop(world, 2)).toBe(2);
    expect(await drop(world, 2)).toBe(1);
    expect(await drop(world, 2)).toBe(0);
    for (const blobNo of old) expect(await world.store.readBlobSlice(blobNo, 0)).toBeUndefined();
    expect(await readBlob(world, young)).toHaveLength(3);
  });

  test('that a submit, a command or an append took up stay', async () => {
    const world = await open();
    const [ofSubmit, ofCommand, ofAppend] = [
      await stage(world, data),
      await stage(world, data),
      await stage(world, data),
    ];
    const { task, grant } = await world.start({ parts: [partOf(ofSubmit, data)], blobs: [ofSubmit] });
    await world.command(task, { events: [chunk(grant, { parts: [partOf(ofCommand, data)] })], blobs: [ofCommand] });
    const event = chunk(grant, { artifactId: 'b', parts: [partOf(ofAppend, data)] });
    await world.store.append(grant, { emitNo: 0, facts: [{ kind: 'event', event, blobs: [ofAppend] }] });
    await world.clock.advance('1d');
    expect(await drop(world)).toBe(0);
    for (const blobNo of [ofSubmit, ofCommand, ofAppend]) expect(await readBlob(world, blobNo)).toHaveLength(3);
    const artifact = await world.scoped().readArtifact(task.id, 'b' as never);
    expect(artifact?.parts).toEqual([partOf(ofAppend, data)]);
  });

  test('that a refused write named stay staged', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const blobNo = await stage(world, data);
    const event = chunk(grant, { parts: [partOf(blobNo, data)] });
    const facts = [{ kind: 'event' as const, event, blobs: [blobNo] }];
    await expect(world.store.append(grant, { emitNo: 9, facts })).rejects.toMatchObject({ code: 'lease_lost' });
    await expect(
      world.scoped().submit(world.submitRequest({ taskId: task.id as TaskId, blobs: [blobNo] })),
    ).rejects.toMatchObject(REFUSED);
    await world.clock.advance(1_001);
    expect(await drop(world)).toBe(1);
  });

  test('that are gone cannot be taken up: the log would name bytes that are not there', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const blobNo = await stage(world, data);
    await world.clock.advance(1_001);
    await drop(world);
    const before = await world.everything(task);
    const event = chunk(grant, { parts: [partOf(blobNo, data)] });
    const batch = { emitNo: 0, facts: [{ kind: 'event' as const, event, blobs: [blobNo] }] };
    await expect(world.store.append(grant, batch)).rejects.toMatchObject(REFUSED);
    expect(await world.everything(task)).toEqual(before);
  });
}
