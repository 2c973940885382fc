import type { Part } from '../../model/message.ts';
import type { DoorParts } from '../door.ts';
import type { HttpResponse } from '../http/exchange.ts';
import { PIECE_CHARS, type ReadBlob } from '../text-pieces.ts';
import { type ArtifactRead, isLargeText, textSource } from './artifact-text.ts';

/**
 * An artifact whose parts are all bytes, or all text, of one type, as a file: chunks are joined. Undefined for anything
 * else. It is an agent's content on our address, so a browser is told to save it and to run nothing in it.
 */
export async function artifactFile(
  { held, readBlob }: Pick<DoorParts, 'held' | 'readBlob'>,
  given: ArtifactRead,
): Promise<HttpResponse | undefined> {
  const { artifact } = given;
  const [first] = artifact.parts;
  if (first === undefined || !artifact.parts.every((part) => isAlike(part, first))) return undefined;
  const pieces = artifact.parts.map(pieceOf);
  const isOfText = isText(first);
  const mediaType = first.mediaType ?? (isOfText ? 'text/plain' : 'application/octet-stream');
  const charset = isOfText && mediaType.startsWith('text/') && !/charset=/i.test(mediaType) ? '; charset=utf-8' : '';
  const source = isOfText && isLargeText(artifact) ? textSource(given) : undefined;
  if (source !== undefined) await held.prepare(source);
  return {
    status: 200,
    headers: {
      'content-type': safeHeader(mediaType + charset) ?? 'application/octet-stream',
      'content-disposition': disposition(first.filename ?? artifact.header.name ?? artifact.artifactId),
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-cache',
      'content-length': `${pieces.reduce((sum, { bytes }) => sum + bytes, 0)}`,
    },
    body: source === undefined ? bytesOf(pieces, readBlob) : held.read(source),
  };
}

function isAlike(part: Part, first: Part): boolean {
  return isText(part) === isText(first) && (isText(part) || isBytes(part)) && part.mediaType === first.mediaType;
}

function isText(part: Part): boolean {
  return part.kind === 'text';
}

function isBytes(part: Part): boolean {
  return part.kind === 'raw' || part.kind === 'blob';
}

type Piece = Extract<Part, { kind: 'blob' }> | { readonly kind: 'bytes'; readonly bytes: number; get(): Uint8Array };

/** What a part gives to the file, and how much it is. */
function pieceOf(part: Part): Piece {
  if (part.kind === 'blob') return part;
  if (part.kind === 'raw') return { kind: 'bytes', bytes: part.raw.length, get: () => part.raw };
  const text = part.kind === 'text' ? part.text : '';
  return { kind: 'bytes', bytes: Buffer.byteLength(text), get: () => Buffer.from(text) };
}

/** The file as it goes out; what is small is written as one. */
function bytesOf(pieces: readonly Piece[], readBlob: ReadBlob): HttpResponse['body'] {
  const inHand = pieces.flatMap((piece) => (piece.kind === 'bytes' ? [piece] : []));
  const bytes = inHand.reduce((sum, piece) => sum + piece.bytes, 0);
  if (inHand.length === pieces.length && bytes <= PIECE_CHARS) return Buffer.concat(inHand.map((piece) => piece.get()));
  return streamedBytes(pieces, readBlob);
}

async function* streamedBytes(pieces: readonly Piece[], readBlob: ReadBlob): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    if (piece.kind === 'blob') yield* readBlob(piece);
    else for (const part of cutBytes(piece.get())) yield part;
  }
}

/** Copies, so that what waits for its socket keeps no more than itself. */
function* cutBytes(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += PIECE_CHARS) {
    yield Buffer.from(bytes.subarray(from, from + PIECE_CHARS));
  }
}

/** Undefined for text that may not stand in a header. */
function safeHeader(text: string): string | undefined {
  return /^[\x20-\x7e]{1,200}$/.test(text) ? text : undefined;
}

/** Longer names break clients and proxies, and no file system takes them. */
const FILENAME_CHARS_MAX = 200;

/** RFC 6266: a plain name for old clients, the whole one in UTF-8, neither with a path. */
function disposition(filename: string): string {
  const last = filename.slice(Math.max(filename.lastIndexOf('/'), filename.lastIndexOf('\\')) + 1);
  const name = last.slice(0, FILENAME_CHARS_MAX) || 'artifact';
  const plain = name.replace(/[^\x20-\x7e]|["%\\]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
