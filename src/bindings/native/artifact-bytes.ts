import type { Artifact } from '../../model/artifact.ts';
import type { Part } from '../../model/message.ts';
import type { HttpResponse } from '../http/exchange.ts';

/**
 * An artifact whose parts are all bytes, or all text, of one type, as a file: chunks are joined. Undefined for anything
 * else. It is an agent's content on our address, so a browser is told to save it and to run nothing in it.
 */
export function artifactFile(artifact: Artifact): HttpResponse | undefined {
  const [first] = artifact.parts;
  if (first === undefined || !artifact.parts.every((part) => isAlike(part, first))) return undefined;
  const bytes = Buffer.concat(artifact.parts.map(bytesOf));
  const isText = first.kind === 'text';
  const mediaType = first.mediaType ?? (isText ? 'text/plain' : 'application/octet-stream');
  const charset = isText && mediaType.startsWith('text/') && !/charset=/i.test(mediaType) ? '; charset=utf-8' : '';
  return {
    status: 200,
    headers: {
      'content-type': safeHeader(mediaType + charset) ?? 'application/octet-stream',
      'content-disposition': disposition(first.filename ?? artifact.header.name ?? artifact.artifactId),
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-cache',
    },
    body: bytes,
  };
}

function isAlike(part: Part, first: Part): boolean {
  return (
    (part.kind === 'text' || part.kind === 'raw') && part.kind === first.kind && part.mediaType === first.mediaType
  );
}

function bytesOf(part: Part): Uint8Array {
  if (part.kind === 'raw') return part.raw;
  return Buffer.from(part.kind === 'text' ? part.text : '');
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
