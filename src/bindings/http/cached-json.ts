import { createHash } from 'node:crypto';
import type { Instant } from '../../base/clock.ts';
import type { HttpRequest, HttpResponse } from './exchange.ts';

/** How long a client may keep a public document without asking again. */
const MAX_AGE_SECONDS = 300;

/**
 * A public document with a strong ETag over its very text, so that it is the same after a restart and on every node
 * and another as soon as a letter changes. `304` where the client has it (RFC 9110 §13: If-None-Match before
 * If-Modified-Since).
 */
export function cachedJson(
  request: HttpRequest,
  document: { readonly text: string; readonly modifiedAt: Instant },
): HttpResponse {
  const etag = `"${createHash('sha256').update(document.text).digest('base64url')}"`;
  const headers = {
    'cache-control': `public, max-age=${MAX_AGE_SECONDS}`,
    etag,
    'last-modified': new Date(document.modifiedAt).toUTCString(),
  };
  if (isFresh(request, etag, document.modifiedAt)) return { status: 304, headers, body: '' };
  return { status: 200, headers: { ...headers, 'content-type': 'application/json' }, body: document.text };
}

function isFresh(request: HttpRequest, etag: string, modifiedAt: Instant): boolean {
  const known = request.headers['if-none-match'];
  if (known !== undefined) {
    return known.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
  }
  const since = Date.parse(request.headers['if-modified-since'] ?? '');
  return !Number.isNaN(since) && Math.floor(modifiedAt / 1_000) * 1_000 <= since;
}
