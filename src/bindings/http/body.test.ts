import { describe, expect, test } from 'vitest';
import { errorCode } from '../../base/errors.ts';
import { wholeRequest } from '../../testing/server-world.ts';
import { readJson } from './body.ts';

const request = (body: string | Uint8Array, contentType: string | undefined = 'application/json') =>
  wholeRequest({
    path: '/',
    method: 'POST',
    body: Buffer.from(body as string),
    headers: contentType === undefined ? {} : { 'content-type': contentType },
  });
const codeOf = (work: () => unknown) => {
  try {
    return ['fine', work()];
  } catch (error) {
    return [errorCode(error), (error as Error).message];
  }
};

describe('content types', () => {
  test.each([
    'application/json',
    'application/a2a+json',
    'Application/JSON; charset=UTF-8',
    'application/json;charset="utf-8"',
    'application/a2a+json; version=1.0',
  ])('%s is taken', (contentType) => {
    expect(readJson(request('{"a":1}', contentType))).toEqual({ a: 1 });
  });

  test.each(['text/plain', 'application/json; charset=utf-16', 'application/jsonp', 'multipart/form-data', ''])(
    '%j is refused and says what to send',
    (contentType) => {
      const [code, message] = codeOf(() => readJson(request('{}', contentType)));
      expect(code).toBe('unsupported_media_type');
      expect(message).toContain('application/json');
    },
  );

  test('a packed body is refused as such, and one that says it is not packed is read', () => {
    const coded = (encoding: string) => {
      const given = request('{}');
      return { ...given, headers: { ...given.headers, 'content-encoding': encoding } };
    };
    const [code, message] = codeOf(() => readJson(coded('gzip')));
    expect([code, message]).toEqual([
      'unsupported_media_type',
      'Content-Encoding was "gzip". Send the body without one.',
    ]);
    expect(readJson(coded('Identity'))).toEqual({});
  });

  test('no body needs none', () => {
    expect(readJson(wholeRequest({ path: '/', method: 'POST' }))).toBeUndefined();
  });
});

describe('what is no JSON', () => {
  test.each([
    ['{', 'not JSON'],
    ['{"a":1} x', 'not JSON'],
    [Uint8Array.of(0x22, 0xff, 0x22), 'not UTF-8'],
    [Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), 'not UTF-8'],
    ['['.repeat(20_000) + ']'.repeat(20_000), '20000 levels'],
    [`{"a":${'['.repeat(64)}${']'.repeat(64)}}`, '65 levels'],
  ])('%# says what is wrong', (body, message) => {
    const [code, text] = codeOf(() => readJson(request(body)));
    expect(code).toBe('parse_error');
    expect(text).toContain(message);
  });

  test('64 levels are fine, and brackets in text are none', () => {
    expect(readJson(request('['.repeat(64) + ']'.repeat(64)))).toBeDefined();
    expect(readJson(request(JSON.stringify(['['.repeat(1_000)])))).toEqual(['['.repeat(1_000)]);
  });
});
