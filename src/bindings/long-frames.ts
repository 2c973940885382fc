import { inPieces } from './http/sse.ts';
import { LargeText } from './shared-texts.ts';
import { isOnePiece, type ReadBlob, textPieces } from './text-pieces.ts';

/** A frame that goes out in pieces: its text is large, or has files in it. */
export interface LongFrame {
  readonly before: string;
  readonly text: string | LargeText;
  readonly after: string;
}

/** A frame as it goes out: one text where it is short. */
export function frameOf(before: string, text: string | LargeText, after: string): string | LongFrame {
  return typeof text === 'string' && isOnePiece(text) ? before + text + after : { before, text, after };
}

/** The frames of batches, small ones joined, long ones in pieces. */
export async function* framePieces<Item>(
  batches: AsyncIterable<readonly Item[]>,
  write: (item: Item) => string | LongFrame,
  readBlob: ReadBlob,
): AsyncGenerator<string> {
  for await (const batch of batches) {
    for (const piece of inPieces(batch, write)) {
      if (typeof piece === 'string') yield piece;
      else yield* unbroken(longFramePieces(piece, readBlob));
    }
  }
}

export async function* longFramePieces({ before, text, after }: LongFrame, readBlob: ReadBlob): AsyncGenerator<string> {
  yield before;
  yield* textPieces(text instanceof LargeText ? text.text : text, readBlob);
  yield after;
}

/** Says that a stream broke inside a frame: no word can be said after it, so the connection must break too. */
export class BrokenFrame extends Error {
  override readonly name = 'BrokenFrame';
}

/** The pieces of one frame; an error after the first of them is a `BrokenFrame`. */
export async function* unbroken(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let hasBegun = false;
  try {
    for await (const piece of pieces) {
      hasBegun = true;
      yield piece;
    }
  } catch (error) {
    throw hasBegun ? new BrokenFrame('the stream broke inside a frame', { cause: error }) : error;
  }
}
