import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../base/errors.ts';
import { idFault, isAgentName, type MessageId, parseId } from './ids.ts';

describe('an id that a client chose', () => {
  test.each(['a', ' ', 'Ünïcödé 😀', 'a/b?c#d', "'; drop table", 'x'.repeat(256)])('%j is one', (text) => {
    expect(parseId<MessageId>(text, 'message.messageId')).toBe(text);
  });

  test.each([
    ['', 'must not be empty'],
    ['x'.repeat(257), 'must have at most 256 characters'],
    ['a\0b', 'must be printable text'],
    ['a\nb', 'must be printable text'],
    ['a\u007f', 'must be printable text'],
    ['a\u2028', 'must be printable text'],
    ['\ud800', 'must be printable text'],
    ['a\udc00b', 'must be printable text'],
  ])('%j is none: %s', (text, fault) => {
    expect(idFault(text)).toBe(fault);
    try {
      parseId(text, 'message.messageId');
      expect.unreachable();
    } catch (error) {
      expect(errorCode(error)).toBe('invalid_argument');
      expect(error).toHaveProperty('detail.violations', [{ field: 'message.messageId', description: fault }]);
    }
  });

  test('any well-formed text without control characters, up to the bound, is one', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), (text) => {
        fc.pre(text.length <= 256 && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text));
        expect(idFault(text)).toBeUndefined();
      }),
    );
  });
});

test('an agent name is a routing name', () => {
  for (const name of ['a', 'my-agent', '0', 'x'.repeat(63)]) expect([name, isAgentName(name)]).toEqual([name, true]);
  for (const name of ['', 'A', 'a_b', 'a.b', 'a/b', 'x'.repeat(64), 'tasks', 'a\n'])
    expect([name, isAgentName(name)]).toEqual([name, false]);
});
