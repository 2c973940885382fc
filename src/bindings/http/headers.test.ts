import { describe, expect, test } from 'vitest';
import { wholeRequest } from '../../testing/server-world.ts';
import { activatedExtensions, checkVersion, prefers, traceIdOf } from './headers.ts';

const withHeaders = (headers: Record<string, string>, path = '/') => wholeRequest({ path, headers });
const TRACE = '0af7651916cd43dd8448eb211c80319c';

describe('traceparent', () => {
  test.each([
    [`00-${TRACE}-b7ad6b7169203331-01`, TRACE],
    [`cc-${TRACE}-b7ad6b7169203331-01-what-comes`, TRACE],
    [`00-${TRACE.toUpperCase()}-b7ad6b7169203331-01`, undefined],
    [`ff-${TRACE}-b7ad6b7169203331-01`, undefined],
    [`00-${'0'.repeat(32)}-b7ad6b7169203331-01`, undefined],
    ['00-1-2-3', undefined],
    ['', undefined],
  ])('%s', (traceparent, expected) => {
    expect(traceIdOf(withHeaders({ traceparent }))).toBe(expected);
  });
});

test('extensions: those we have and the client wants, in our order', () => {
  const header = 'https://example.com/other, https://holdfast.dev/b,https://holdfast.dev/a';
  expect(
    activatedExtensions(withHeaders({ 'a2a-extensions': header }), [
      'https://holdfast.dev/a',
      'https://holdfast.dev/c',
    ]),
  ).toEqual(['https://holdfast.dev/a']);
  expect(activatedExtensions(withHeaders({}), ['https://holdfast.dev/a'])).toEqual([]);
});

describe('A2A-Version', () => {
  test.each([
    [{ 'a2a-version': '1.0' }, '/'],
    [{ 'a2a-version': '' }, '/?A2A-Version=1.0'],
    [{ 'a2a-version': ' 1.0 ' }, '/'],
    [{}, '/?A2A-Version=1.0'],
    [{}, '/?a2a-version=1.0.3'],
    [{ 'a2a-version': '1.0' }, '/?A2A-Version=9.9'],
  ])('%j %s is 1.0', (headers, path) => {
    expect(() => checkVersion(withHeaders(headers as Record<string, string>, path))).not.toThrow();
  });

  test.each([
    [{}, '/'],
    [{ 'a2a-version': '0.3' }, '/?A2A-Version=1.0'],
    [{}, '/?A2A-Version=0.3'],
  ])('%j %s is refused', (headers, path) => {
    expect(() => checkVersion(withHeaders(headers as Record<string, string>, path))).toThrow('1.0');
  });
});

describe('Accept', () => {
  test.each([
    ['text/event-stream', true],
    ['text/event-stream, application/json', true],
    ['application/json, text/event-stream;q=0.5', false],
    ['text/event-stream;q=0', false],
    ['*/*', false],
    ['', false],
  ])('%s prefers events: %s', (accept, expected) => {
    expect(prefers(withHeaders({ accept }), 'text/event-stream', 'application/json')).toBe(expected);
  });
});
