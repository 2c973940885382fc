import { describe, expect, test } from 'vitest';
import demo, { readWish } from './demo.ts';

describe('a wish is read from the text', () => {
  test.each([
    ['hello', { kind: 'talk' }],
    ['', { kind: 'talk' }],
    ['I am Ada', { kind: 'talk', name: 'Ada' }],
    ["Hi, I'm Zoë-Ann.", { kind: 'talk', name: 'Zoë-Ann' }],
    ['I am tired', { kind: 'talk' }],
    ['write about the tides', { kind: 'write', topic: 'the tides' }],
    ['tell me about bees', { kind: 'write', topic: 'bees' }],
    ['Write', { kind: 'write', topic: 'tides' }],
    ['writers are odd', { kind: 'talk' }],
    ['book a table', { kind: 'book', what: 'a table' }],
    ['Reserve two seats, please.', { kind: 'book', what: 'two seats, please' }],
    ['ask', { kind: 'book', what: 'a table' }],
    ['wait 5s', { kind: 'wait', until: '5s' }],
    ['wait for 2 minutes', { kind: 'wait', until: '2m' }],
    ['wait 250 ms', { kind: 'wait', until: '250ms' }],
    ['sleep 1.5 h', { kind: 'wait', until: '1.5h' }],
    ['wait', { kind: 'wait', until: '5s' }],
    ['wait 123456789d', { kind: 'wait', until: '5s' }],
    ['pay 30', { kind: 'pay', amount: 30 }],
    ['buy something for 7 euros', { kind: 'pay', amount: 7 }],
    ['pay', { kind: 'pay', amount: 12 }],
    ['sign in', { kind: 'sign-in' }],
    ['login', { kind: 'sign-in' }],
    ['reject', { kind: 'reject' }],
    ['fail please', { kind: 'fail' }],
  ])('%j', (text, wish) => {
    expect(readWish(text)).toEqual(wish);
  });
});

test('every skill has an example to try', () => {
  for (const skill of Object.values(demo.skills)) expect(skill.examples?.length).toBeGreaterThan(0);
});
