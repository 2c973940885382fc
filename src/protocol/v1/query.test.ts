import { describe, expect, test } from 'vitest';
import { decodeListPushConfigsRequest } from './push-requests.ts';
import { decodeGetTaskQuery, decodeListTasksQuery, listPushConfigsQuery, withPathFields } from './query.ts';

const query = (text: string): URLSearchParams => new URLSearchParams(text);

describe('GET /tasks', () => {
  test('every filter as a query parameter (A2A 1.0 §11.5)', () => {
    const text =
      'contextId=c+1&status=TASK_STATE_WORKING&pageSize=50&pageToken=n%2F1&historyLength=0&statusTimestampAfter=2026-01-31T12:00:00Z&includeArtifacts=true&A2A-Version=1.0';
    expect(decodeListTasksQuery(query(text), { tenant: 'demo' })).toEqual({
      tenant: 'demo',
      contextId: 'c 1',
      state: 'working',
      pageSize: 50,
      pageToken: 'n/1',
      historyLength: 0,
      stateAtFrom: Date.UTC(2026, 0, 31, 12),
      includeArtifacts: true,
    });
  });

  test('nothing, snake_case and numbers of states are fine', () => {
    expect(decodeListTasksQuery(query(''))).toEqual({ includeArtifacts: false });
    expect(decodeListTasksQuery(query('page_size=7&status=3&include_artifacts=false'))).toEqual({
      pageSize: 7,
      state: 'completed',
      includeArtifacts: false,
    });
  });

  test.each([
    ['pageSize=0', 'pageSize: must be from 1 to 100, not 0'],
    ['pageSize=', 'pageSize: must be a whole number, not ""'],
    ['pageSize=ten', 'pageSize: must be a whole number, not "ten"'],
    ['pageSize=1&pageSize=2', 'pageSize: is given 2 times'],
    ['pageSize=1&page_size=1', 'pageSize: is given 2 times'],
    ['status=RUNNING', 'status: must be one of'],
    ['status=', 'status: must be one of'],
    ['status=9', 'status: must be one of'],
    ['includeArtifacts=1', 'includeArtifacts: must be true or false'],
    ['includeArtifacts=TRUE', 'includeArtifacts: must be true or false'],
    ['statusTimestampAfter=2026', 'statusTimestampAfter: must be a time'],
    ['tenant=other', 'tenant: must be the same in the path and in the request'],
  ])('?%s is refused', (text, message) => {
    expect(() => decodeListTasksQuery(query(text), { tenant: 'demo' })).toThrow(
      expect.objectContaining({ code: 'invalid_argument', message: expect.stringContaining(message) }),
    );
  });
});

test('GET /tasks/{id}', () => {
  expect(decodeGetTaskQuery(query('historyLength=10'), { id: 't1' })).toEqual({ id: 't1', historyLength: 10 });
  expect(decodeGetTaskQuery(query('id=t2&x=1&x=2'), { id: 't1' })).toEqual({ id: 't1' });
  expect(() => decodeGetTaskQuery(query('historyLength=-1'), { id: 't1' })).toThrow('historyLength: must be from 0 to');
  expect(() => decodeGetTaskQuery(query(''), { id: 'a\u0000' })).toThrow('id: must be printable text');
});

test('GET /tasks/{taskId}/pushNotificationConfigs', () => {
  const json = listPushConfigsQuery(query('pageSize=5&pageToken=n'), { taskId: 't1' });
  expect(decodeListPushConfigsRequest(json)).toEqual({ taskId: 't1', pageSize: 5, pageToken: 'n' });
});

describe('path and body', () => {
  test('the path fills in what the body leaves out', () => {
    expect(withPathFields(undefined, { id: 't1' })).toEqual({ id: 't1' });
    expect(withPathFields({ metadata: {} }, { id: 't1', tenant: 'demo' })).toEqual({
      metadata: {},
      id: 't1',
      tenant: 'demo',
    });
    expect(withPathFields({ id: 't1', tenant: '' }, { id: 't1', tenant: 'demo' })).toEqual({
      id: 't1',
      tenant: 'demo',
    });
    expect(withPathFields({ task_id: 't1' }, { taskId: 't1' })).toEqual({ taskId: 't1' });
  });

  test.each([{ id: 't2' }, { id: 5 }])('%j against /tasks/t1 is refused', (body) => {
    expect(() => withPathFields(body, { id: 't1' })).toThrow('id: must be the same in the path and in the request');
  });

  test('what is no object is left for the decoder to refuse', () => {
    expect(withPathFields([], { id: 't1' })).toEqual([]);
    expect(withPathFields(null, { id: 't1' })).toBeNull();
  });
});
