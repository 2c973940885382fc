import { essenceOf } from '../../base/media-type.ts';
import { negotiateVersion } from '../../protocol/versions.ts';
import type { HttpRequest } from './exchange.ts';

const VERSION_PARAMETER = 'A2A-Version';
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;
const NO_TRACE = '0'.repeat(32);

/** Checks the A2A version of a request: the header, else the query parameter; neither means 0.3. Throws `version_not_supported`. */
export function checkVersion(request: HttpRequest): void {
  const header = request.headers['a2a-version'];
  negotiateVersion(header === undefined || header === '' ? versionParameter(request.query) : header.trim());
}

function versionParameter(query: URLSearchParams): string | undefined {
  return query.get(VERSION_PARAMETER) ?? query.get(VERSION_PARAMETER.toLowerCase()) ?? undefined;
}

/** The extensions that a request wants and the agent has; the others are ignored (A2A 1.0 §4.6.3). */
export function activatedExtensions(request: HttpRequest, declared: readonly string[]): readonly string[] {
  const wanted = request.headers['a2a-extensions'];
  if (wanted === undefined) return [];
  const uris = new Set(wanted.split(',').map((uri) => uri.trim()));
  return declared.filter((uri) => uris.has(uri));
}

/** The W3C trace id of a `traceparent` header; an invalid one is no trace. */
export function traceIdOf(request: HttpRequest): string | undefined {
  const match = TRACEPARENT.exec(request.headers.traceparent ?? '');
  const traceId = match?.[1];
  const isForbiddenVersion = match?.[0].startsWith('ff') ?? false;
  return traceId === undefined || traceId === NO_TRACE || isForbiddenVersion ? undefined : traceId;
}

/** Whether the `Accept` header names this media type outright and does not rank another above it. */
export function prefers(request: HttpRequest, mediaType: string, over: string): boolean {
  const ranks = acceptedRanks(request.headers.accept);
  const rank = ranks.get(mediaType) ?? 0;
  return rank > 0 && rank >= (ranks.get(over) ?? 0);
}

function acceptedRanks(accept: string | undefined): ReadonlyMap<string, number> {
  const ranks = (accept ?? '').split(',').map((range): [string, number] => {
    const weight = /;\s*q=([0-9.]+)/.exec(range)?.[1];
    return [essenceOf(range), weight === undefined ? 1 : Number(weight)];
  });
  return new Map(ranks);
}
