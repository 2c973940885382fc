import { limits } from '../base/limits.ts';
import type { BlobNo } from '../model/ids.ts';
import type { BlobPart, Part, RawPart } from '../model/message.ts';
import type { SystemStore } from '../store/contract.ts';
import { digestBytes } from './content-digest.ts';

/** Parts as an event stores them, and the blobs that the write of that event has to take up. */
export interface StagedParts {
  readonly parts: readonly Part[];
  readonly blobs: readonly BlobNo[];
}

/**
 * Moves large raw parts into blobs, slice by slice, each a commit of its own, so that no commit holds megabytes.
 * Small parts stay as they are. What is staged and never taken up is removed by the sweeper.
 */
export async function stageParts(store: SystemStore, parts: readonly Part[]): Promise<StagedParts> {
  if (!needsStaging(parts)) return { parts, blobs: [] };
  const staged: Part[] = [];
  const blobs: BlobNo[] = [];
  for (const part of parts) {
    if (!isLarge(part)) {
      staged.push(part);
      continue;
    }
    const blob = await stageBlob(store, part);
    staged.push(blob);
    blobs.push(blob.blobNo);
  }
  return { parts: staged, blobs };
}

/** Whether `stageParts` would write anything. */
export function needsStaging(parts: readonly Part[]): boolean {
  return parts.some(isLarge);
}

function isLarge(part: Part): part is RawPart {
  return part.kind === 'raw' && part.raw.length > limits.inlineRawBytesMax;
}

async function stageBlob(store: SystemStore, part: RawPart): Promise<BlobPart> {
  const { kind: _, raw, ...common } = part;
  const total = { bytes: raw.length, sha256: await digestBytes(raw) };
  let blobNo: BlobNo | undefined;
  for (let sliceNo = 0; sliceNo * limits.blobSliceBytes < raw.length; sliceNo += 1) {
    const start = sliceNo * limits.blobSliceBytes;
    const data = raw.subarray(start, start + limits.blobSliceBytes);
    blobNo = await store.stageSlice({ ...(blobNo === undefined ? {} : { blobNo }), sliceNo, data, total });
  }
  return { kind: 'blob', ...common, blobNo: blobNo as BlobNo, ...total };
}
