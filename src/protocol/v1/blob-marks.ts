import type { Json } from '../../base/json.ts';
import type { BlobNo } from '../../model/ids.ts';
import type { BlobPart } from '../../model/message.ts';

/** A blob as a text names it: enough to read its bytes. */
export type BlobPlace = Pick<BlobPart, 'blobNo' | 'bytes'>;

/**
 * No JSON writer spells a letter in digits, so nothing that anybody says comes out as this: after a quote that is not
 * part of a text's content, `\u0062` stands here only. What a client or an agent writes can name no blob.
 */
const OPENING = '"\\u0062lob ';
const MARK = /"\\u0062lob (\d+) (\d+)"/g;

/**
 * What stands in a JSON value for the base64 of a blob's bytes: a string that `JSON.stringify` writes as a mark. Whoever
 * sends the text puts the bytes there while they go out, so no answer holds the files it is about.
 */
export function blobMark({ blobNo, bytes }: BlobPlace): Json {
  return json.rawJSON(`${OPENING}${blobNo} ${bytes}"`);
}

/** It stands in Node 22 and later, and not yet in TypeScript's library. */
const json = JSON as unknown as { rawJSON(text: string): Json };

/** Whether a text of `JSON.stringify` has a place for a blob's bytes. */
export function holdsBlobMark(text: string): boolean {
  return text.includes(OPENING);
}

/** A text in its order: what is said as it stands, and the blobs whose base64 goes between, in quotes of its own. */
export function splitAtBlobs(text: string): readonly (string | BlobPlace)[] {
  if (!holdsBlobMark(text)) return [text];
  const pieces: (string | BlobPlace)[] = [];
  let from = 0;
  for (const match of text.matchAll(MARK)) {
    const [mark, blobNo, bytes] = match;
    pieces.push(text.slice(from, match.index + 1), { blobNo: Number(blobNo) as BlobNo, bytes: Number(bytes) });
    from = match.index + mark.length - 1;
  }
  pieces.push(text.slice(from));
  return pieces;
}
