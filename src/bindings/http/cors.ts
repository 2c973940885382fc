import type { HttpBinding, HttpRequest, HttpResponse } from './exchange.ts';

/** Which pages of other origins may call: none, any, those on this machine, or the listed ones. */
export type CorsOrigins = 'none' | 'any' | 'localhost' | readonly string[];

const ALLOWED_HEADERS = [
  'A2A-Version',
  'A2A-Extensions',
  'Authorization',
  'Content-Type',
  'Last-Event-ID',
  'Traceparent',
] as const;
const EXPOSED_HEADERS = ['A2A-Extensions', 'ETag', 'Retry-After', 'WWW-Authenticate', 'Content-Disposition'] as const;
const PREFLIGHT_SECONDS = 600;
const LOCAL_ORIGIN = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/** Lets pages of the given origins read what a binding answers. Credentials travel in headers, so no cookie is allowed. */
export function withCors(binding: HttpBinding, origins: CorsOrigins): HttpBinding {
  if (origins === 'none') return binding;
  return async (request) => {
    const { origin } = request.headers;
    const response = await binding(request);
    const vary = { vary: 'Origin' };
    if (origin === undefined || !allowsOrigin(origins, origin)) return withHeaders(response, vary);
    return withHeaders(response, {
      ...vary,
      'access-control-allow-origin': origin,
      'access-control-expose-headers': EXPOSED_HEADERS.join(', '),
      ...(isPreflight(request) ? preflightHeaders(response) : {}),
    });
  };
}

/** Whether pages of this origin may call. */
export function allowsOrigin(origins: CorsOrigins, origin: string): boolean {
  if (origins === 'any' || origins === 'none') return origins === 'any';
  return origins === 'localhost' ? LOCAL_ORIGIN.test(origin) : origins.includes(origin);
}

function isPreflight(request: HttpRequest): boolean {
  return request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
}

function preflightHeaders(response: HttpResponse): Readonly<Record<string, string>> {
  return {
    'access-control-allow-methods': response.headers.allow ?? 'GET, POST, DELETE',
    'access-control-allow-headers': ALLOWED_HEADERS.join(', '),
    'access-control-max-age': String(PREFLIGHT_SECONDS),
  };
}

function withHeaders(response: HttpResponse, headers: Readonly<Record<string, string>>): HttpResponse {
  return { ...response, headers: { ...response.headers, ...headers } };
}
