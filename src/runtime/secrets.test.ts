import { createHmac, hkdfSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createSecrets } from './secrets.ts';

const root = new Uint8Array(32).fill(1);

describe('secrets', () => {
  test('a digest is the same under the same root and purpose, and another under any other', () => {
    const secrets = createSecrets(root);
    const digest = secrets.hmac('fingerprint', 'text');
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(createSecrets(root).hmac('fingerprint', 'text')).toBe(digest);
    expect(secrets.hmac('page-token', 'text')).not.toBe(digest);
    expect(createSecrets(new Uint8Array(32).fill(2)).hmac('fingerprint', 'text')).not.toBe(digest);
  });

  test('what is sealed opens under the same root alone, and never twice the same', () => {
    const secrets = createSecrets(root);
    const bytes = Buffer.from('the words of a thin agent', 'utf8');
    const sealed = secrets.seal(bytes);
    expect(Buffer.from(sealed).includes('words')).toBe(false);
    expect(secrets.seal(bytes)).not.toEqual(sealed);
    expect(Buffer.from(createSecrets(root).open(sealed)).toString()).toBe('the words of a thin agent');
    expect(() => createSecrets(new Uint8Array(32)).open(sealed)).toThrow(expect.objectContaining({ code: 'internal' }));
  });

  test.each([0, 5, 20, 40])('a byte changed at %i is noticed', (at) => {
    const secrets = createSecrets(root);
    const sealed = secrets.seal(Buffer.from('0123456789abcdef'));
    sealed[at] = (sealed[at] ?? 0) ^ 1;
    expect(() => secrets.open(sealed)).toThrow(expect.objectContaining({ code: 'internal' }));
  });

  test('a root key that anybody could guess is refused', () => {
    expect(() => createSecrets(new Uint8Array(8))).toThrow('128 bits');
  });
});

test('a digest is HMAC-SHA-256 under the key derived for its purpose', () => {
  const root = Buffer.alloc(32, 5);
  const key = Buffer.from(hkdfSync('sha256', root, 'holdfast', 'fingerprint', 32));
  const text = 'a\u0000b\ud800 ü '.repeat(50);
  expect(createSecrets(root).hmac('fingerprint', text)).toBe(createHmac('sha256', key).update(text).digest('hex'));
});
