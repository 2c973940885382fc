import { expect, test } from 'vitest';
import { encodeJournalValue } from './codec.ts';
import { AgentCodeError, Fail, Reject } from './errors.ts';
import { decodeStepOutcome, encodeStepFailure } from './step-failure.ts';

const again = (error: unknown): unknown => {
  try {
    return decodeStepOutcome(encodeStepFailure(error));
  } catch (thrown) {
    return thrown;
  }
};

test('what a step threw is thrown again under its name, with its text and code', () => {
  expect(again(new Fail('No funds.', { code: 'funds' }))).toEqual(new Fail('No funds.', { code: 'funds' }));
  expect(again(new Fail('No funds.', { code: 'funds' }))).toBeInstanceOf(Fail);
  expect(again(new Reject('No.'))).toBeInstanceOf(Reject);
  const system = Object.assign(new TypeError('refused'), { code: 'ECONNREFUSED' });
  expect(again(system)).toMatchObject({ name: 'TypeError', message: 'refused', code: 'ECONNREFUSED' });
  expect(again(new AgentCodeError('ask-in-step', 'x'))).toMatchObject({ name: 'AgentCodeError', page: 'ask-in-step' });
  expect(again('text')).toMatchObject({ name: 'Error', message: 'text' });
  expect(again(null)).toMatchObject({ name: 'Error', message: 'null' });
  expect((again(new Error('x'.repeat(5_000))) as Error).message).toHaveLength(2_000);
});

test('a value that looks like one is a value', () => {
  const value = { $: ['failed', { name: 'Error', message: 'no' }] };
  expect(decodeStepOutcome(encodeJournalValue(value, 'x'))).toEqual(value);
});
