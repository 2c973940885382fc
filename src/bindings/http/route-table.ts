import { CodedError } from '../../base/errors.ts';

export type Method = 'GET' | 'POST' | 'DELETE';

/** One address and what each method does there. Segments are literal, `{name}`, or `{name}:verb`. */
export interface Resource<Route> {
  readonly path: string;
  readonly methods: Readonly<Partial<Record<Method, Route>>>;
}

export interface Match<Route> {
  readonly resource: Resource<Route>;
  /** What stood where the pattern has `{name}`, decoded. */
  readonly fields: Readonly<Record<string, string>>;
}

interface Segment {
  readonly literal?: string;
  readonly name?: string;
  readonly verb?: string;
}

/**
 * Finds resources by path. A path is cut at its slashes before it is decoded, so `%2F` in an id stays in the id; a verb
 * counts only behind a colon that was sent as one, so `%3A` in an id does too. The address decides first and the method
 * after: GET on `{id}:cancel` is a wrong method, never a task called `…:cancel`.
 */
export class RouteTable<Route> {
  readonly resources: readonly Resource<Route>[];
  readonly #patterns: readonly { readonly resource: Resource<Route>; readonly segments: readonly Segment[] }[];

  constructor(resources: readonly Resource<Route>[]) {
    this.resources = resources;
    this.#patterns = resources.map((resource) => ({ resource, segments: parsePattern(resource.path) })).sort(byVerb);
  }

  /** Undefined where nothing lives. Throws InvalidParams where the path is not text. */
  match(segments: readonly string[]): Match<Route> | undefined {
    for (const { resource, segments: pattern } of this.#patterns) {
      if (pattern.length !== segments.length) continue;
      const fields: Record<string, string> = {};
      if (pattern.every((expected, index) => matches(expected, segments[index] ?? '', fields))) {
        return { resource, fields };
      }
    }
    return undefined;
  }
}

/** Raw segments of a path; one slash at its end means nothing. */
export function segmentsOf(path: string): readonly string[] {
  const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  return trimmed === '/' || trimmed === '' ? [] : trimmed.slice(trimmed.startsWith('/') ? 1 : 0).split('/');
}

/** Percent-decoded text of one segment. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new CodedError('invalid_argument', {
      message: 'The path holds a "%" that stands before no UTF-8 text. Write a percent sign as %25.',
      violations: [{ field: 'path', description: 'is not percent-encoded UTF-8' }],
    });
  }
}

function parsePattern(path: string): readonly Segment[] {
  return segmentsOf(path).map((segment) => {
    const match = /^\{(\w+)\}(?::(\w+))?$/.exec(segment);
    if (match?.[1] === undefined) return { literal: segment };
    return match[2] === undefined ? { name: match[1] } : { name: match[1], verb: match[2] };
  });
}

/** `{id}:verb` is looked at before `{id}`. */
function byVerb(a: { readonly segments: readonly Segment[] }, b: { readonly segments: readonly Segment[] }): number {
  const verbs = (segments: readonly Segment[]): number => segments.filter(({ verb }) => verb !== undefined).length;
  return verbs(b.segments) - verbs(a.segments);
}

function matches(expected: Segment, raw: string, fields: Record<string, string>): boolean {
  if (expected.name === undefined) return raw === expected.literal || decodeSegment(raw) === expected.literal;
  const ending = expected.verb === undefined ? '' : `:${expected.verb}`;
  const value = raw.slice(0, raw.length - ending.length);
  if (value === '' || !raw.endsWith(ending)) return false;
  fields[expected.name] = decodeSegment(value);
  return true;
}
