import { expect, test } from 'vitest';
import { frozenCopy, withOwnBytes } from './frozen.ts';

test('a frozen copy is equal, and neither it nor its origin can change it', () => {
  const origin = { z: [1, { y: null }], a: 'x', bytes: Uint8Array.from([1, 2]) };
  const copy = frozenCopy(origin);
  origin.z.push(5);
  origin.bytes[0] = 9;
  expect(copy).toEqual({ z: [1, { y: null }], a: 'x', bytes: Uint8Array.from([1, 2]) });
  expect(Object.keys(copy)).toEqual(['z', 'a', 'bytes']);
  expect(() => copy.z.push(1)).toThrow(TypeError);
});

test('keys without a value are left out, and odd keys are kept', () => {
  const copy = frozenCopy({ a: undefined, ...JSON.parse('{"__proto__":{"b":1},"":2}') });
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"b":1},"":2}');
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
});

test('bytes are copied for a reader, and what has none is given as it is', () => {
  const plain = frozenCopy({ a: [{ b: 1 }] });
  expect(withOwnBytes(plain)).toBe(plain);
  const value = frozenCopy({ parts: [{ text: 'x' }, { raw: Uint8Array.from([1]) }] as const });
  const own = withOwnBytes(value);
  expect(own).toEqual(value);
  expect(own.parts[0]).toBe(value.parts[0]);
  expect(own.parts[1]).not.toBe(value.parts[1]);
  expect(own.parts[1].raw).not.toBe(value.parts[1].raw);
});
