import { expect, test } from 'vitest';
import { CodedError, fieldErrors } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { silentLogger } from '../../base/log.ts';
import { Faults } from './fault.ts';
import { refuseWithStatus } from './status-body.ts';

function createFaults() {
  const logged: unknown[] = [];
  const log: Logger = { ...silentLogger, error: (message, fields) => logged.push([message, fields]) };
  return { faults: new Faults({ log, newId: () => 'error-1' }), logged };
}

test.each([
  new Error('password=hunter2'),
  new CodedError('internal', { message: 'password=hunter2' }),
  new CodedError('lease_lost', { message: 'hunter2' }),
  'hunter2',
])('what nobody meant to show is logged under an id, which alone leaves: %s', (error) => {
  const { faults, logged } = createFaults();
  const response = refuseWithStatus(faults.of(error), { contentType: 'application/json', challenge: undefined });
  expect(JSON.parse(response.body as string)).toEqual({
    error: {
      code: 500,
      status: 'INTERNAL',
      message: 'Internal error',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: 'INTERNAL',
          domain: 'holdfast.dev',
          metadata: { errorId: 'error-1', retry: 'same-message' },
        },
      ],
    },
  });
  expect(logged).toEqual([['request failed', { errorId: 'error-1', error }]]);
});

test('ErrorInfo stands first, then the fields, then when to come back', () => {
  const { detail } = fieldErrors([{ field: 'message.parts', description: 'at least one is required' }]);
  const fault = createFaults().faults.of(new CodedError('invalid_argument', { ...detail, retryAfterSeconds: 1.5 }));
  expect(fault.details).toEqual([
    { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'INVALID_PARAMS', domain: 'holdfast.dev' },
    {
      '@type': 'type.googleapis.com/google.rpc.BadRequest',
      fieldViolations: [{ field: 'message.parts', description: 'at least one is required' }],
    },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1.5s' },
  ]);
  const { headers } = refuseWithStatus(fault, { contentType: 'application/json', challenge: 'Bearer' });
  expect(headers).toEqual({ 'content-type': 'application/json', 'retry-after': '2' });
});

test('a challenge goes with 401, Allow with 405, and neither with anything else', () => {
  const { faults } = createFaults();
  const headersOf = (code: 'unauthenticated' | 'method_not_allowed' | 'task_not_found') =>
    refuseWithStatus(faults.of(new CodedError(code, { metadata: { allow: 'GET' } })), {
      contentType: 'x',
      challenge: 'Bearer',
    }).headers;
  expect(headersOf('unauthenticated')).toMatchObject({ 'www-authenticate': 'Bearer' });
  expect(headersOf('method_not_allowed')).toEqual({ 'content-type': 'x', allow: 'GET' });
  expect(headersOf('task_not_found')).toEqual({ 'content-type': 'x' });
});
