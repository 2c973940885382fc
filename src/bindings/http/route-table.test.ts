import { describe, expect, test } from 'vitest';
import { routeOf } from './allowed-methods.ts';
import { RouteTable, segmentsOf } from './route-table.ts';

const table = new RouteTable<string>([
  { path: '/tasks', methods: { GET: 'list' } },
  { path: '/tasks/{id}', methods: { GET: 'get' } },
  { path: '/tasks/{id}:cancel', methods: { POST: 'cancel' } },
  { path: '/tasks/{id}:subscribe', methods: { GET: 'subscribe', POST: 'subscribe' } },
  { path: '/message:send', methods: { POST: 'send' } },
  { path: '/tasks/{id}/configs/{configId}', methods: { GET: 'config' } },
]);
const found = (path: string) => {
  const match = table.match(segmentsOf(path));
  return match === undefined ? undefined : [match.resource.path, match.fields];
};

describe('a path', () => {
  test.each([
    ['/tasks', '/tasks', {}],
    ['/tasks/', '/tasks', {}],
    ['/tasks/t1', '/tasks/{id}', { id: 't1' }],
    ['/tasks/t1:cancel', '/tasks/{id}:cancel', { id: 't1' }],
    ['/tasks/a:b:subscribe', '/tasks/{id}:subscribe', { id: 'a:b' }],
    ['/tasks/a:b', '/tasks/{id}', { id: 'a:b' }],
    ['/tasks/a%3Asubscribe', '/tasks/{id}', { id: 'a:subscribe' }],
    ['/tasks/a%3Acancel:cancel', '/tasks/{id}:cancel', { id: 'a:cancel' }],
    ['/tasks/a%2Fb', '/tasks/{id}', { id: 'a/b' }],
    ['/tasks/a%2Fconfigs%2Fb', '/tasks/{id}', { id: 'a/configs/b' }],
    ['/tasks/%E2%9C%93', '/tasks/{id}', { id: '✓' }],
    ['/tasks/t%20/configs/c', '/tasks/{id}/configs/{configId}', { id: 't ', configId: 'c' }],
    ['/message:send', '/message:send', {}],
    ['/message%3Asend', '/message:send', {}],
  ])('%s is %s', (path, resource, fields) => {
    expect(found(path)).toEqual([resource, fields]);
  });

  test.each(['/', '', '/task', '/tasks//', '/tasks//configs/c', '/tasks/t1/more', '/message:sent', '/tasks/:cancel/x'])(
    '%j leads nowhere',
    (path) => {
      expect(found(path)).toBeUndefined();
    },
  );

  test('a verb without an id is an id', () => {
    expect(found('/tasks/:cancel')).toEqual(['/tasks/{id}', { id: ':cancel' }]);
  });

  test('that is no UTF-8 names the path', () => {
    expect(() => found('/tasks/%ff')).toThrow('percent');
  });
});

test('the address decides before the method: GET on :cancel is a wrong method, not another task', () => {
  const match = table.match(segmentsOf('/tasks/t1:cancel'));
  expect(() => routeOf(match!.resource, 'GET')).toThrow('It takes POST, OPTIONS.');
  const subscribe = table.match(segmentsOf('/tasks/t1:subscribe'));
  expect(routeOf(subscribe!.resource, 'HEAD')).toBe('subscribe');
});
