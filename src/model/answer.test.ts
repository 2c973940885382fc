import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { instant } from '../base/clock.ts';
import type { Json, JsonObject } from '../base/json.ts';
import { userParts, userText } from '../testing/task-views.ts';
import { checkAnswer } from './answer.ts';
import type { Question } from './question.ts';

const free: Question = { kind: 'ask', askId: 'ask:Why?', text: 'Why?' };
const numeric: Question = { ...free, schema: { type: 'integer', minimum: 1 } };
const reason: Question = {
  ...free,
  schema: { type: 'object', properties: { reason: { type: 'string', minLength: 1 } }, required: ['reason'] },
};
const sized: Question = { ...free, schema: { type: 'object', properties: { size: { enum: ['s', 'l'] } } } };
const booking: Question = {
  ...free,
  schema: {
    type: 'object',
    properties: {
      people: { type: 'integer' },
      day: { type: 'string' },
      outside: { type: 'boolean' },
      size: { enum: ['s', 'l'] },
    },
    required: ['people', 'day'],
  },
};
const signIn: Question = { kind: 'authorize', askId: 'authorize:oauth', text: 'Sign in.', scheme: 'oauth' };
const data = (value: Json) => userParts('m', [{ kind: 'data', data: value }]);

describe('an answer in text', () => {
  test('is the answer to a question without a schema', () => {
    const message = userParts('m', [
      { kind: 'text', text: 'a' },
      { kind: 'text', text: 'b' },
    ]);
    expect(checkAnswer(free, message)).toEqual({ kind: 'accepted', value: 'a\nb' });
  });

  test('is parsed under a schema', () => {
    expect(checkAnswer(numeric, userText('m', ' 4 '))).toEqual({ kind: 'accepted', value: 4 });
    expect(checkAnswer(reason, userText('m', 'late'))).toEqual({ kind: 'accepted', value: { reason: 'late' } });
  });

  test.each([
    [numeric, 'four', 'That answer does not fit: answer must be a number.'],
    [numeric, '0', 'That answer does not fit: answer must be at least 1.'],
    [reason, '', 'That answer does not fit: reason must have at least 1 characters.'],
    [sized, 'ten', 'That answer does not fit: size must be one of "s", "l".'],
    [
      booking,
      'two, please',
      'That answer does not fit: answer needs a data part with people (whole number), day (text), outside (true | false, optional), size ("s" | "l", optional).',
    ],
  ])('that does not fit says why and puts the question again', (question, text, why) => {
    expect(checkAnswer(question, userText('m', text))).toMatchObject({
      kind: 'unfit',
      reason: why,
      questionParts: [
        { kind: 'text', text: 'Why?' },
        { kind: 'data', data: { askId: 'ask:Why?', schema: question.schema } },
      ],
    });
  });
});

test('a question that is put again says when it expires', () => {
  const check = checkAnswer(numeric, userText('m', 'four'), { dueAt: instant(1_767_225_600_000) });
  expect(check).toMatchObject({
    questionParts: [{ kind: 'text' }, { data: { askId: 'ask:Why?', expiresAt: '2026-01-01T00:00:00.000Z' } }],
  });
});

describe('an answer in data', () => {
  test.each<[string, Question, Json, Json]>([
    ['bare', numeric, 3, 3],
    ['bare, an object', reason, { reason: 'late' }, { reason: 'late' }],
    ['with its askId beside', reason, { askId: 'ask:Why?', reason: 'late' }, { reason: 'late' }],
    ['wrapped', numeric, { askId: 'ask:Why?', content: 3 }, 3],
    ['wrapped and accepted', numeric, { askId: 'ask:Why?', action: 'accept', content: 3 }, 3],
    ['wrapped, without a schema', free, { askId: 'ask:Why?', content: { any: [1] } }, { any: [1] }],
    ['null, wrapped', free, { askId: 'ask:Why?', content: null }, null],
    ['false, wrapped', free, { askId: 'ask:Why?', content: false }, false],
    ['an object of its own that speaks of actions', free, { action: 'refund' }, { action: 'refund' }],
  ])('%s is taken', (_name, question, value, taken) => {
    expect(checkAnswer(question, data(value))).toEqual({ kind: 'accepted', value: taken });
  });

  test('stands before text beside it', () => {
    const message = userParts('m', [
      { kind: 'text', text: '8' },
      { kind: 'data', data: 3 },
    ]);
    expect(checkAnswer(numeric, message)).toEqual({ kind: 'accepted', value: 3 });
  });

  test.each<[Question, Json, string]>([
    [numeric, 0, 'message.parts[1].data'],
    [numeric, { askId: 'ask:Why?', content: 0 }, 'message.parts[1].data.content'],
    [numeric, { askId: 'ask:Why?', action: 'cancel' }, 'message.parts[1].data.action'],
    [reason, { reason: '' }, 'message.parts[1].data.reason'],
  ])('that breaks the schema is refused with its path', (question, value, field) => {
    const message = userParts('m', [
      { kind: 'text', text: 'here' },
      { kind: 'data', data: value },
    ]);
    expect(checkAnswer(question, message)).toMatchObject({ kind: 'refused', violations: [{ field }] });
  });

  test('may decline, whatever the schema', () => {
    for (const question of [free, numeric, reason]) {
      expect(checkAnswer(question, data({ askId: 'ask:Why?', action: 'decline' }))).toEqual({ kind: 'declined' });
    }
  });
});

test('a sign-in is cleared by any message, and declined by one that says so', () => {
  expect(checkAnswer(signIn, userText('m', 'done'))).toEqual({ kind: 'accepted', value: null });
  expect(checkAnswer(signIn, data({ anything: 1 }))).toEqual({ kind: 'accepted', value: null });
  expect(checkAnswer(signIn, data({ action: 'decline' }))).toEqual({ kind: 'declined' });
});

test('whatever a client wraps comes out as it was, and no message makes the check throw', () => {
  const json = fc.jsonValue() as fc.Arbitrary<Json>;
  fc.assert(
    fc.property(json, (content) => {
      expect(checkAnswer(free, data({ askId: free.askId, content }))).toEqual({ kind: 'accepted', value: content });
    }),
  );
  const schemas: readonly JsonObject[] = [{ type: 'string' }, { enum: [1, null] }, reason.schema ?? {}];
  fc.assert(
    fc.property(json, fc.string(), fc.constantFrom(...schemas), (value, text, schema) => {
      const question = { ...free, schema };
      expect(checkAnswer(question, data(value)).kind).toMatch(/^(accepted|refused|declined)$/);
      expect(checkAnswer(question, userText('m', text)).kind).toMatch(/^(accepted|unfit)$/);
    }),
  );
});
