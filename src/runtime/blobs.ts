import { CodedError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { BlobNo } from '../model/ids.ts';
import type { BlobPart, Part } from '../model/message.ts';
import type { SystemStore } from '../store/contract.ts';

type Reader = Pick<SystemStore, 'readBlobSlice'>;
type BlobPlace = Pick<BlobPart, 'blobNo' | 'bytes'>;

/**
 * The bytes of blobs, a slice at a time, as their readers ask for them: nobody holds more than the slice they are at.
 * The newest slices are kept, so that many readers who are at one place read the store once.
 */
export class BlobSlices {
  readonly #store: Reader;
  readonly #kept = new Map<string, { readonly data: Promise<Uint8Array | undefined>; readonly bytes: number }>();
  #bytes = 0;

  constructor(store: Reader) {
    this.#store = store;
  }

  /** The slices in order. Throws `internal` where the blob is not whole, before anybody takes its beginning for all of it. */
  async *of({ blobNo, bytes }: BlobPlace): AsyncGenerator<Uint8Array> {
    let given = 0;
    for (let sliceNo = 0; given < bytes; sliceNo += 1) {
      const slice = await this.#slice(blobNo, sliceNo);
      if (slice === undefined || slice.length === 0 || given + slice.length > bytes)
        throw new CodedError('internal', { cause: new Error(`blob ${blobNo} is not whole at slice ${sliceNo}`) });
      given += slice.length;
      yield slice;
    }
  }

  #slice(blobNo: BlobNo, sliceNo: number): Promise<Uint8Array | undefined> {
    const key = `${blobNo} ${sliceNo}`;
    const known = this.#kept.get(key);
    if (known !== undefined) return known.data;
    const kept = { data: this.#store.readBlobSlice(blobNo, sliceNo), bytes: limits.blobSliceBytes };
    this.#kept.set(key, kept);
    this.#bytes += kept.bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= limits.heldSlicesBytesMax) break;
      this.#forget(oldest);
    }
    kept.data.catch(() => this.#forget(key));
    return kept.data;
  }

  #forget(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }
}

/** Parts with their blobs read into `raw` parts: for a handler, which wants the bytes in hand. */
export async function resolveParts(store: Reader, parts: readonly Part[]): Promise<readonly Part[]> {
  const resolved: Part[] = [];
  // One after the other: a message with a hundred files must not hold all its slices in flight at once.
  for (const part of parts) resolved.push(part.kind === 'blob' ? await readBlob(store, part) : part);
  return resolved;
}

async function readBlob(store: Reader, part: BlobPart): Promise<Part> {
  const { kind: _, blobNo, bytes, sha256: __, ...common } = part;
  const raw = new Uint8Array(bytes);
  let filled = 0;
  for await (const slice of new BlobSlices(store).of({ blobNo, bytes })) {
    raw.set(slice, filled);
    filled += slice.length;
  }
  return { kind: 'raw', raw, ...common };
}
