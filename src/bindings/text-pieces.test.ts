import { expect, test } from 'vitest';
import type { BlobNo } from '../model/ids.ts';
import { encodePart } from '../protocol/v1/parts.ts';
import { isOnePiece, PIECE_CHARS, textPieces } from './text-pieces.ts';

const blob = { kind: 'blob', blobNo: 1 as BlobNo, bytes: 3 * 7_000, sha256: '' } as const;
const bytes = Buffer.from(Array.from({ length: blob.bytes }, (_, at) => at % 256));

async function* slices(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1_000) yield Uint8Array.from(bytes.subarray(at, at + 1_000));
}

test('a short text is one piece, unless a file stands in it', () => {
  expect(isOnePiece('{"text":"blob 3 9"}')).toBe(true);
  expect(isOnePiece(JSON.stringify(encodePart(blob)))).toBe(false);
  expect(isOnePiece('x'.repeat(PIECE_CHARS * 3))).toBe(false);
});

test('pieces are small and make the whole text, with the base64 of its files', async () => {
  const words = ['🙂'.repeat(100_000), `x${'🙂'.repeat(100_000)}`, 'x'.repeat(200_000)];
  const pieces: string[] = [];
  for await (const piece of textPieces(JSON.stringify({ words, parts: [encodePart(blob)] }), slices))
    pieces.push(piece);
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(PIECE_CHARS);
  expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
  expect(JSON.parse(pieces.join(''))).toEqual({ words, parts: [{ raw: bytes.toString('base64') }] });
});
