import { expect, test } from 'vitest';
import type { Json } from '../base/json.ts';
import { userParts } from '../testing/task-views.ts';
import { replyForm } from './reply-form.ts';

const asking = (schema: Json) => userParts('m', [{ kind: 'data', data: { askId: 'ask:x', schema } }]);
const object = (properties: Json, required: Json = []) => asking({ type: 'object', properties, required });

test('a question that a text can answer is answered with a text', () => {
  expect(replyForm(undefined)).toBe('"<reply>"');
  expect(replyForm(userParts('m', [{ kind: 'text', text: 'Well?' }]))).toBe('"<reply>"');
  expect(replyForm(asking({ type: 'integer' }))).toBe('"<reply>"');
  expect(replyForm(object({ people: { type: 'integer' } }))).toBe('"<reply>"');
  expect(replyForm(object({ people: { type: 'integer' }, note: { type: 'string' } }, ['people']))).toBe('"<reply>"');
});

test('one that wants several values with the data that it wants', () => {
  const properties = {
    people: { type: 'integer' },
    "day's name": { type: 'string' },
    outside: { type: 'boolean' },
    size: { enum: ['s', 'l'] },
  };
  expect(replyForm(object(properties, ['people', "day's name"]))).toBe(
    `--data '{"people": <whole number>, "day'\\''s name": "<text>"}'`,
  );
  expect(replyForm(object(properties))).toBe(
    `--data '{"people": <whole number>, "day'\\''s name": "<text>", "outside": <true | false>, "size": <"s" | "l">}'`,
  );
});
