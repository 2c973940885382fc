import type { Dialect, Statement } from './dialect.ts';

/** Returns `no`. */
export function insertBlob(
  d: Dialect,
  blob: { readonly bytes: number; readonly sha256: string; readonly stagedAt: number },
): Statement {
  const text = `insert into ${d.table('blob')} (bytes, sha256, staged_at)
    values (${d.param(1)}, ${d.param(2)}, ${d.param(3)})
    returning no`;
  return { text, values: [blob.bytes, blob.sha256, blob.stagedAt] };
}

/** Writing a slice twice is writing it once. */
export function putBlobSlice(
  d: Dialect,
  slice: { readonly blobNo: number; readonly sliceNo: number; readonly data: Uint8Array },
): Statement {
  const text = `insert into ${d.table('blob_slice')} (blob_no, slice_no, data)
    values (${d.param(1)}, ${d.param(2)}, ${d.param(3)})
    on conflict (blob_no, slice_no) do update set data = excluded.data`;
  return { text, values: [slice.blobNo, slice.sliceNo, slice.data] };
}

/** The column `data`. */
export function selectBlobSlice(d: Dialect, blobNo: number, sliceNo: number): Statement {
  const text = `select data
    from ${d.table('blob_slice')}
    where blob_no = ${d.param(1)} and slice_no = ${d.param(2)}`;
  return { text, values: [blobNo, sliceNo] };
}

/** Makes staged blobs the task's, which keeps them as long as it is kept. Returns `no` of each that was still nobody's. */
export function takeUpBlobs(d: Dialect, taskNo: number, blobNos: readonly number[]): Statement {
  const text = `update ${d.table('blob')}
    set task_no = ${d.param(1)}
    where no ${d.anyOf(2)} and (task_no is null or task_no = ${d.param(1)})
    returning no`;
  return { text, values: [taskNo, d.list(blobNos)] };
}

/** Returns `no` of each blob that was staged before `before` and that no event took up. Rides on `blob_staged`. */
export function deleteStagedBlobs(d: Dialect, before: number, itemsMax: number): Statement {
  const text = `delete from ${d.table('blob')}
    where no in (
      select no
      from ${d.table('blob')}
      where task_no is null and staged_at < ${d.param(1)}
      order by staged_at
      limit ${d.param(2)})
    returning no`;
  return { text, values: [before, itemsMax] };
}
