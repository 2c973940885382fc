import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../base/json.ts';
import { seededRandom } from '../base/random.ts';
import type { Scope } from '../model/scope.ts';
import { createSecrets } from '../runtime/secrets.ts';
import { doorAgent } from '../testing/door-agent.ts';
import type { Call } from './operations.ts';
import { type Listing, readPageToken, writePageToken } from './page-token.ts';

const secrets = createSecrets(new Uint8Array(32).fill(1), seededRandom(1));

function listing(fields: Partial<Listing> & { readonly scope?: string; readonly agent?: string } = {}): Listing {
  const { scope = 'ann', agent = 'door', ...rest } = fields;
  const call = {
    caller: { principal: { id: scope }, scope: scope as Scope },
    agent: doorAgent(agent),
  } as unknown as Call;
  return { secrets, call, of: 'tasks', filters: { state: 'working' }, ...rest };
}

describe('a page token', () => {
  const place: JsonObject = { at: 1_767_225_600_000, no: 4711, total: 12 };
  const token = writePageToken(listing(), place);

  test('gives its place back to its own listing', () => {
    expect(readPageToken(listing(), token)).toMatchObject(place);
  });

  test('tells nothing to whoever holds it', () => {
    expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain('4711');
    expect(token).toMatch(/^[A-Za-z0-9_-]+$/);
  });

  test.each([
    ['another caller', listing({ scope: 'bob' })],
    ['another agent', listing({ agent: 'other' })],
    ['another filter', listing({ filters: { state: 'failed' } })],
    ['no filter', listing({ filters: {} })],
    ['another listing', listing({ of: 'sessions' })],
    ['another installation', listing({ secrets: createSecrets(new Uint8Array(32).fill(2)) })],
  ])('is worth nothing to %s', (_who, other) => {
    expect(() => readPageToken(other, token)).toThrow('pageToken');
  });

  test('breaks with every letter of it', () => {
    for (let index = 0; index < token.length - 1; index += 1) {
      const letter = token[index] === 'A' ? 'B' : 'A';
      const tampered = token.slice(0, index) + letter + token.slice(index + 1);
      expect(() => readPageToken(listing(), tampered), `letter ${index}`).toThrow('pageToken');
    }
    for (const garbage of ['', 'x', 'AAAA', '☃', 'A'.repeat(10_000)]) {
      expect(() => readPageToken(listing(), garbage)).toThrow('pageToken');
    }
  });
});
