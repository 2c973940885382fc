import type { BlobPlace } from '../protocol/v1/blob-marks.ts';
import { holdsBlobMark, splitAtBlobs } from '../protocol/v1/blob-marks.ts';
import { encodeBase64 } from '../protocol/v1/parts.ts';

/** Text is handed on in pieces of about this size: one write carries many small frames, and no reader is handed megabytes. */
export const PIECE_CHARS = 64 * 1024;

export type ReadBlob = (blob: BlobPlace) => AsyncIterable<Uint8Array>;

/** Whether a text may go out as it is, in one piece. */
export function isOnePiece(text: string): boolean {
  return text.length <= 2 * PIECE_CHARS && !holdsBlobMark(text);
}

/** A text of `JSON.stringify` as it goes out: in pieces, with the bytes of its blobs where their marks stand. */
export async function* textPieces(text: string, readBlob: ReadBlob): AsyncGenerator<string> {
  for (const part of splitAtBlobs(text)) {
    if (typeof part === 'string') yield* cut(part);
    else yield* base64Pieces(readBlob(part));
  }
}

function* cut(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const end = from + PIECE_CHARS;
    const to = isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
    // Copied: a slice would keep the whole text as long as it waits for its socket.
    yield text.length <= PIECE_CHARS ? text : Buffer.from(text.slice(from, to)).toString();
    from = to;
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

/** The base64 of bytes as they come: each piece is whole groups of three, and the last one has the padding. */
export async function* base64Pieces(slices: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest: Uint8Array = new Uint8Array();
  for await (const slice of slices) {
    const bytes = rest.length === 0 ? slice : Buffer.concat([rest, slice]);
    const whole = bytes.length - (bytes.length % 3);
    rest = Uint8Array.from(bytes.subarray(whole));
    yield encodeBase64(bytes.subarray(0, whole));
  }
  if (rest.length > 0) yield encodeBase64(rest);
}
