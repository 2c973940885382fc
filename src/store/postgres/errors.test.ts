import { expect, test } from 'vitest';
import { AssertionError } from '../../base/assert.ts';
import { CodedError } from '../../base/errors.ts';
import { classifyFailure, isLost, markLost, toStoreError } from './errors.ts';

function answer(code: string): Error {
  return Object.assign(new Error(code), { code, severity: 'ERROR' });
}

test.each([
  ['40P01', 'rolled-back'],
  ['40001', 'rolled-back'],
  ['26000', 'stale'],
  ['0A000', 'stale'],
  ['08006', 'unknown'],
  ['57P01', 'unknown'],
  ['25P03', 'unknown'],
  ['25P04', 'unknown'],
  ['55P03', 'refused'],
  ['57014', 'refused'],
  ['53100', 'refused'],
  ['53300', 'refused'],
  ['25006', 'refused'],
  ['42501', 'refused'],
  ['23505', 'bug'],
  ['23514', 'bug'],
  ['22012', 'bug'],
  ['42601', 'bug'],
] as const)('SQLSTATE %s means %s', (state, failure) => {
  expect(classifyFailure(answer(state))).toBe(failure);
});

test('what is not an answer of the server leaves the outcome unknown', () => {
  expect(classifyFailure(Object.assign(new Error('read'), { code: 'ECONNRESET' }))).toBe('unknown');
  expect(classifyFailure(new Error('Connection terminated unexpectedly'))).toBe('unknown');
  expect(classifyFailure(new Error('Query read timeout'))).toBe('unknown');
});

test('callers see unavailable, with the cause for the log; our own faults stay faults', () => {
  const cause = answer('57014');
  expect(toStoreError(cause)).toMatchObject({ code: 'unavailable', detail: { cause } });
  expect(toStoreError(answer('23505'))).toBeInstanceOf(AssertionError);
  const coded = new CodedError('lease_lost');
  expect(toStoreError(coded)).toBe(coded);
});

test('an error is lost only where it was marked', () => {
  expect(isLost(markLost(new CodedError('unavailable')))).toBe(true);
  expect(isLost(new CodedError('unavailable'))).toBe(false);
});
