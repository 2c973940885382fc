import { describe, expect, test } from 'vitest';
import {
  decodeCancelTaskRequest,
  decodeGetExtendedAgentCardRequest,
  decodeGetTaskRequest,
  decodeListTasksRequest,
  decodeSubscribeToTaskRequest,
} from './decode.ts';
import {
  decodeCreatePushConfigRequest,
  decodeListPushConfigsRequest,
  decodePushConfigRequest,
} from './push-requests.ts';

const decoders = {
  GetTask: decodeGetTaskRequest,
  CancelTask: decodeCancelTaskRequest,
  SubscribeToTask: decodeSubscribeToTaskRequest,
} as const;

describe.each(Object.entries(decoders))('%s', (_name, decode) => {
  test('names a task, and perhaps a tenant', () => {
    expect(decode({ id: 't1' })).toEqual({ id: 't1' });
    expect(decode({ id: 't1', tenant: 'demo', more: 1 })).toEqual({ id: 't1', tenant: 'demo' });
  });

  test.each([
    [{}, 'id: is required'],
    [undefined, 'id: is required'],
    [{ id: '' }, 'id: must not be empty'],
    [{ id: 5 }, 'id: must be a string, not a number'],
    [{ id: 'a\u0000' }, 'id: must be printable text'],
    [{ id: 'a'.repeat(257) }, 'id: must have at most 256 characters'],
    [{ id: 't1', tenant: {} }, 'tenant: must be a string, not an object'],
  ])('%j is refused', (json, message) => {
    expect(() => decode(json)).toThrow(expect.objectContaining({ code: 'invalid_argument', message }));
  });
});

test('GetTask takes a history length, CancelTask metadata', () => {
  expect(decodeGetTaskRequest({ id: 't1', historyLength: 0 })).toEqual({ id: 't1', historyLength: 0 });
  expect(decodeGetTaskRequest({ id: 't1', history_length: '5' })).toEqual({ id: 't1', historyLength: 5 });
  expect(() => decodeGetTaskRequest({ id: 't1', historyLength: -1 })).toThrow('historyLength: must be from 0 to');
  expect(decodeCancelTaskRequest({ id: 't1', metadata: { why: 'bored' } })).toEqual({
    id: 't1',
    metadata: { why: 'bored' },
  });
});

test('GetExtendedAgentCard has a tenant at most', () => {
  expect(decodeGetExtendedAgentCardRequest(undefined)).toEqual({});
  expect(decodeGetExtendedAgentCardRequest({ tenant: 'demo' })).toEqual({ tenant: 'demo' });
  expect(() => decodeGetExtendedAgentCardRequest(null)).toThrow('request: must be an object, not null');
});

describe('ListTasks', () => {
  test('without filters', () => {
    expect(decodeListTasksRequest(undefined)).toEqual({ includeArtifacts: false });
    expect(decodeListTasksRequest({ status: 'TASK_STATE_UNSPECIFIED', contextId: '', pageToken: '' })).toEqual({
      includeArtifacts: false,
    });
    expect(decodeListTasksRequest({ status: 0 })).toEqual({ includeArtifacts: false });
  });

  test('with all of them', () => {
    const json = {
      tenant: 'demo',
      contextId: 'c1',
      status: 'TASK_STATE_INPUT_REQUIRED',
      pageSize: 100,
      pageToken: 'next',
      historyLength: 3,
      statusTimestampAfter: '2026-01-31T13:00:00+01:00',
      includeArtifacts: true,
    };
    expect(decodeListTasksRequest(json)).toEqual({
      tenant: 'demo',
      contextId: 'c1',
      state: 'input-required',
      pageSize: 100,
      pageToken: 'next',
      historyLength: 3,
      stateAtFrom: Date.UTC(2026, 0, 31, 12),
      includeArtifacts: true,
    });
  });

  test.each([
    ['TASK_STATE_SUBMITTED', 1, 'submitted'],
    ['TASK_STATE_WORKING', 2, 'working'],
    ['TASK_STATE_COMPLETED', 3, 'completed'],
    ['TASK_STATE_FAILED', 4, 'failed'],
    ['TASK_STATE_CANCELED', 5, 'canceled'],
    ['TASK_STATE_INPUT_REQUIRED', 6, 'input-required'],
    ['TASK_STATE_REJECTED', 7, 'rejected'],
    ['TASK_STATE_AUTH_REQUIRED', 8, 'auth-required'],
  ])('the state %s may also be written %d', (name, number, state) => {
    expect(decodeListTasksRequest({ status: name }).state).toBe(state);
    expect(decodeListTasksRequest({ status: number }).state).toBe(state);
  });

  test.each([
    [{ status: 'RUNNING' }, 'status: must be one of TASK_STATE_SUBMITTED, TASK_STATE_WORKING'],
    [{ status: 'task_state_working' }, 'status: must be one of'],
    [{ status: 'working' }, 'status: must be one of'],
    [{ status: 99 }, 'not 99'],
    [{ status: -1 }, 'not -1'],
    [{ status: 1.5 }, 'not 1.5'],
    [{ status: '2' }, 'not "2"'],
    [{ status: true }, 'not a boolean'],
    [{ pageSize: 0 }, 'pageSize: must be from 1 to 100, not 0'],
    [{ pageSize: -1 }, 'pageSize: must be from 1 to 100, not -1'],
    [{ pageSize: 101 }, 'pageSize: must be from 1 to 100, not 101'],
    [{ pageSize: 1e9 }, 'pageSize: must be from 1 to 100, not 1000000000'],
    [{ historyLength: -1 }, 'historyLength: must be from 0 to 2147483647, not -1'],
    [
      { statusTimestampAfter: 'yesterday' },
      'statusTimestampAfter: must be a time such as 2026-01-31T12:00:00.000Z, not "yesterday"',
    ],
    [{ statusTimestampAfter: 1700000000 }, 'statusTimestampAfter: must be a string, not a number'],
    [{ statusTimestampAfter: '' }, 'statusTimestampAfter: must be a time'],
    [{ includeArtifacts: 'yes' }, 'includeArtifacts: must be true or false, not a string'],
    [{ contextId: 'a\u2028b' }, 'contextId: must be printable text'],
    [{ pageToken: 5 }, 'pageToken: must be a string, not a number'],
    ['all', 'request: must be an object, not a string'],
  ])('%j is refused', (json, message) => {
    expect(() => decodeListTasksRequest(json)).toThrow(message);
  });
});

describe('push configs', () => {
  test('a new one needs a task and a url', () => {
    const config = {
      taskId: 't1',
      url: 'https://example.com',
      id: 'p1',
      token: 's',
      authentication: { scheme: 'Bearer', credentials: 'c' },
    };
    expect(decodeCreatePushConfigRequest({ ...config, tenant: 'demo' })).toEqual({ ...config, tenant: 'demo' });
    expect(decodeCreatePushConfigRequest({ task_id: 't1', url: 'u' })).toEqual({ taskId: 't1', url: 'u' });
    expect(() => decodeCreatePushConfigRequest({})).toThrow('url: is required; taskId: is required');
    expect(() => decodeCreatePushConfigRequest({ taskId: 't1', url: '' })).toThrow('url: must not be empty');
  });

  test('one is named by its task and its id', () => {
    expect(decodePushConfigRequest({ taskId: 't1', id: 'p1' })).toEqual({ taskId: 't1', id: 'p1' });
    expect(() => decodePushConfigRequest({ id: 'p1' })).toThrow('taskId: is required');
    expect(() => decodePushConfigRequest({ taskId: 't1' })).toThrow('id: is required');
  });

  test('they are listed by task', () => {
    expect(decodeListPushConfigsRequest({ taskId: 't1', pageSize: 0 })).toEqual({ taskId: 't1' });
    expect(decodeListPushConfigsRequest({ taskId: 't1', pageSize: 5, pageToken: 'n', tenant: 'd' })).toEqual({
      taskId: 't1',
      pageSize: 5,
      pageToken: 'n',
      tenant: 'd',
    });
    expect(() => decodeListPushConfigsRequest({ taskId: 't1', pageSize: -1 })).toThrow(
      'pageSize: must be from 0 to 100',
    );
  });
});
