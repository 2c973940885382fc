import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ClientOptions, resolveOptions } from './client-options.ts';
import type { Io } from './io.ts';
import { parseDotenv } from './settings.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'holdfast-env-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): void {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Resolves options in `work/deep`, with a home beside it. */
function resolved(flags: Readonly<Record<string, unknown>>, env: Readonly<Record<string, string>> = {}): ClientOptions {
  mkdirSync(path.join(folder, 'work/deep'), { recursive: true });
  const io = { env, cwd: path.join(folder, 'work/deep'), home: path.join(folder, 'home') };
  return resolveOptions(io as unknown as Io, flags);
}

describe('a value comes from', () => {
  beforeEach(() => {
    write('home/.config/a2a-cli/.env', 'A2ACLI_AGENT_CARD=global\nA2ACLI_BEARER=global');
    write('work/.env', 'A2ACLI_AGENT_CARD=local\nOTHER=x');
  });

  test('its flag, the environment, the nearest .env upwards, the global one, in this order', () => {
    expect(resolved({ agentCard: 'flag' }, { A2ACLI_AGENT_CARD: 'env' }).agentCard).toBe('flag');
    expect(resolved({}, { A2ACLI_AGENT_CARD: 'env' }).agentCard).toBe('env');
    expect(resolved({}).agentCard).toBe('local');
    expect(resolved({}).bearer).toBe('global');
    expect(resolved({}).apiKey).toBeUndefined();
  });

  test('the file of --config in place of the local one; one that cannot be read is a usage error', () => {
    write('work/deep/other.env', 'A2ACLI_AGENT_CARD=other');
    expect(resolved({ config: 'other.env' }).agentCard).toBe('other');
    expect(resolved({ config: 'other.env' }).bearer).toBe('global');
    expect(() => resolved({ config: 'none.env' })).toThrow('none.env');
  });
});

test('what nobody said has its default', () => {
  expect(resolved({})).toMatchObject({
    agentCard: 'http://127.0.0.1:4000',
    output: 'text',
    stream: false,
    pollMs: 2_000,
    isAsync: false,
    wait: false,
    transports: [],
    serviceParams: {},
  });
});

test('--stream is a flag and nothing else', () => {
  expect(resolved({}, { A2ACLI_STREAM: 'true' }).stream).toBe(false);
  expect(resolved({ stream: true }).stream).toBe(true);
});

test.each<[Readonly<Record<string, unknown>>, Readonly<Record<string, string>>, boolean]>([
  [{ async: true }, {}, true],
  [{ returnImmediately: true }, {}, true],
  [{ wait: false }, {}, true],
  [{}, { A2ACLI_ASYNC: '1' }, true],
  [{}, { A2ACLI_ASYNC: 'false' }, false],
  [{ wait: true }, { A2ACLI_ASYNC: '1' }, false],
  [{ async: true }, { A2ACLI_WAIT: '1' }, true],
])('%j with %j: async is %s', (flags, env, isAsync) => {
  expect(resolved(flags, env).isAsync).toBe(isAsync);
});

test('lists come from repeated flags, or with commas from the environment', () => {
  expect(resolved({ transport: ['rest', 'GRPC'] }).transports).toEqual(['HTTP+JSON', 'GRPC']);
  expect(resolved({}, { A2ACLI_TRANSPORT: 'rest, jsonrpc' }).transports).toEqual(['HTTP+JSON', 'JSONRPC']);
  expect(resolved({ svcParam: ['X-Trace:a:b', 'k=v'] }).serviceParams).toEqual({ 'x-trace': 'a:b', k: 'v' });
});

test.each([
  ['500ms', 500],
  ['2s', 2_000],
  ['1.5m', 90_000],
  ['3', 3_000],
])('a duration: %s', (text, ms) => {
  expect(resolved({ timeout: text }).timeoutMs).toBe(ms);
});

test.each([
  { timeout: '0s' },
  { timeout: '-1s' },
  { pollInterval: '2 weeks' },
  { output: 'yaml' },
  { transport: ['pigeon'] },
  { svcParam: ['nothing'] },
  { metadata: '"text"' },
])('a usage error that shows how to write it: %j', (flags) => {
  expect(() => resolved(flags)).toThrow(expect.objectContaining({ code: 'A2ACLI_ERR_USAGE', exitCode: 2 }));
});

test('a dotenv file is read with exports, quotes, comments and empty values', () => {
  const text = [
    '# note',
    'A=1',
    ' export B = two words # note',
    'C="# kept"',
    "D='x' # note",
    'E=',
    'not a line',
    'F=a#b',
  ];
  expect(parseDotenv(text.join('\r\n'))).toEqual({ A: '1', B: 'two words', C: '# kept', D: 'x', E: '', F: 'a#b' });
});
