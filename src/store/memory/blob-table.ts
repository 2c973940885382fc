import { assert } from '../../base/assert.ts';
import { type Instant, instant } from '../../base/clock.ts';
import type { BlobNo, TaskNo } from '../../model/ids.ts';

interface Blob {
  readonly slices: Map<number, Uint8Array>;
  readonly stagedAt: Instant;
  taskNo: TaskNo | undefined;
}

/** Blobs and their slices. One that no task has taken up is staged. */
export class BlobTable {
  readonly #blobs = new Map<BlobNo, Blob>();
  /** In the order of their staging. */
  readonly #staged = new Set<BlobNo>();
  #last = 0;

  stage(request: {
    readonly blobNo?: BlobNo;
    readonly sliceNo: number;
    readonly data: Uint8Array;
    readonly now: Instant;
  }): BlobNo {
    const blobNo = request.blobNo ?? this.#open(request.now);
    const blob = this.#blobs.get(blobNo);
    assert(blob !== undefined && blob.taskNo === undefined, 'slices are added to a staged blob');
    blob.slices.set(request.sliceNo, Uint8Array.from(request.data));
    return blobNo;
  }

  slice(blobNo: BlobNo, sliceNo: number): Uint8Array | undefined {
    const slice = this.#blobs.get(blobNo)?.slices.get(sliceNo);
    return slice === undefined ? undefined : Uint8Array.from(slice);
  }

  canTakeUp(blobNo: BlobNo, taskNo: TaskNo): boolean {
    const blob = this.#blobs.get(blobNo);
    return blob !== undefined && (blob.taskNo === undefined || blob.taskNo === taskNo);
  }

  takeUp(blobNo: BlobNo, taskNo: TaskNo): void {
    const blob = this.#blobs.get(blobNo);
    if (blob === undefined) return;
    blob.taskNo = taskNo;
    this.#staged.delete(blobNo);
  }

  /** Deletes staged blobs that are older than `before`, the oldest first; returns how many. */
  dropStaged(request: { readonly before: number; readonly itemsMax: number }): number {
    let dropped = 0;
    for (const blobNo of this.#staged) {
      const blob = this.#blobs.get(blobNo);
      if (dropped >= request.itemsMax || blob === undefined || blob.stagedAt >= instant(request.before)) break;
      this.#staged.delete(blobNo);
      this.#blobs.delete(blobNo);
      dropped += 1;
    }
    return dropped;
  }

  #open(now: Instant): BlobNo {
    this.#last += 1;
    const blobNo = this.#last as BlobNo;
    this.#blobs.set(blobNo, { slices: new Map(), stagedAt: now, taskNo: undefined });
    this.#staged.add(blobNo);
    return blobNo;
  }
}
