import { expect, test } from 'vitest';
import { listAnswer, listedForm } from './task-answers.ts';

test('pins: a list has its four fields, also when it is empty', () => {
  const rest = { nextPageToken: '', pageSize: 50, totalSize: 0 };
  expect(JSON.stringify(listAnswer([], listedForm(false), rest))).toBe(
    '{"tasks":[],"nextPageToken":"","pageSize":50,"totalSize":0}',
  );
});
