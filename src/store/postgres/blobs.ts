import type { BlobNo } from '../../model/ids.ts';
import type { SystemStore } from '../contract.ts';
import { deleteStagedBlobs, insertBlob, putBlobSlice, selectBlobSlice } from '../sql/blob-writes.ts';
import { type PostgresContext, readNow } from './postgres-context.ts';

type BlobMethods = Pick<SystemStore, 'stageSlice' | 'readBlobSlice' | 'dropStagedBlobs'>;

/** Large parts, in slices. */
export function openBlobs(context: PostgresContext): BlobMethods {
  const { d, database } = context;
  return {
    async stageSlice({ blobNo, sliceNo, data, total }) {
      if (blobNo !== undefined) {
        await database.write([putBlobSlice(d, { blobNo, sliceNo, data })], { repeatable: true });
        return blobNo;
      }
      const stagedAt = await readNow(context);
      return database.transaction(async (run) => {
        const [rows] = await run([insertBlob(d, { ...total, stagedAt })]);
        const opened = rows?.[0]?.no as BlobNo;
        await run([putBlobSlice(d, { blobNo: opened, sliceNo, data })]);
        return opened;
      });
    },
    async readBlobSlice(blobNo, sliceNo) {
      const [rows] = await database.read([selectBlobSlice(d, blobNo, sliceNo)]);
      return rows?.[0]?.data as Uint8Array | undefined;
    },
    async dropStagedBlobs({ olderThanMs, itemsMax }) {
      const before = (await readNow(context)) - olderThanMs;
      const [rows] = await database.write([deleteStagedBlobs(d, before, itemsMax)], { repeatable: true });
      return rows?.length ?? 0;
    },
  };
}
