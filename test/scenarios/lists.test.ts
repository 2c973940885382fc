import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServerWorld, startWorld } from '../../src/testing/server-world.ts';
import { testAuthenticator } from '../../src/testing/test-authenticator.ts';
import { verifies } from '../requirements.ts';
import { type Door, doorMakers, okOf, refusalOf, type Wire } from './door.ts';
import { Gates, scenarioAgent } from './scenario-agent.ts';

async function pages(door: Door, query: Record<string, string | number | boolean>): Promise<readonly Wire[]> {
  const tasks: Wire[] = [];
  let pageToken = '';
  do {
    const page = okOf(await door.list({ ...query, ...(pageToken === '' ? {} : { pageToken }) }));
    tasks.push(...page.tasks);
    expect(typeof page.nextPageToken).toBe('string');
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  return tasks;
}

describe.each(doorMakers)('%o', (makeDoor) => {
  let world: ServerWorld;
  let door: Door;
  beforeAll(async () => {
    world = await startWorld({ agents: [scenarioAgent(new Gates())], auth: testAuthenticator() });
    door = makeDoor({ url: world.url, token: 'ann' });
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        door.send({ skill: index % 2 === 0 ? 'echo' : 'ask', text: 'x', contextId: `c${index % 4}` }),
      ),
    );
  });
  afterAll(() => world.close());

  test(`every page size gives every task once, newest status first ${verifies('list.pages-whole', 'list.order', 'list.next-page-token')}`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 50 }), async (pageSize) => {
        const tasks = await pages(door, { pageSize });
        expect(new Set(tasks.map((task) => task.id)).size).toBe(40);
        const times = tasks.map((task) => task.status.timestamp);
        expect(times).toEqual(times.toSorted().toReversed());
      }),
      { numRuns: 12 },
    );
  });

  test(`tasks that move between pages cost nobody else a place ${verifies('list.pages-whole')}`, async () => {
    const first = okOf(await door.list({ pageSize: 10, contextId: 'c1' }));
    expect(first.totalSize).toBe(10);
    const page = okOf(await door.list({ pageSize: 4, contextId: 'c1' }));
    await door.send({ taskId: first.tasks[6].id, parts: [{ data: { count: 1 } }] });
    const rest: Wire[] = [];
    let pageToken = page.nextPageToken;
    while (pageToken !== '') {
      const next = okOf(await door.list({ pageSize: 4, contextId: 'c1', pageToken }));
      rest.push(...next.tasks);
      pageToken = next.nextPageToken;
    }
    const seen = [...page.tasks, ...rest].map((task: Wire) => task.id);
    for (const task of first.tasks)
      if (task.id !== first.tasks[6].id) expect(seen.filter((id) => id === task.id)).toHaveLength(1);
  });

  test(`filters narrow, and artifacts come when asked for ${verifies('list.filters', 'list.artifacts-omitted')}`, async () => {
    const done = okOf(await door.list({ status: 'TASK_STATE_COMPLETED', pageSize: 100 }));
    expect(done.tasks.length).toBeGreaterThanOrEqual(20);
    for (const task of done.tasks) {
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      expect('artifacts' in task).toBe(false);
    }
    const whole = okOf(await door.list({ status: 'TASK_STATE_COMPLETED', includeArtifacts: true, pageSize: 1 }));
    expect(whole.tasks[0].artifacts[0].parts).toHaveLength(1);
    const newest = done.tasks[0].status.timestamp;
    const since = okOf(await door.list({ statusTimestampAfter: newest, pageSize: 100 }));
    expect(since.tasks.length).toBeGreaterThanOrEqual(1);
    for (const task of since.tasks) expect(task.status.timestamp >= newest).toBe(true);
    expect(okOf(await door.list({ contextId: 'nowhere' })).totalSize).toBe(0);
  });

  test.each([
    ['status', { status: 'RUNNING' }],
    ['status', { status: 'task_state_working' }],
    ['status', { status: 99 }],
    ['pageSize', { pageSize: 0 }],
    ['pageSize', { pageSize: -1 }],
    ['pageSize', { pageSize: 1_000_000_000 }],
    ['historyLength', { historyLength: -1 }],
    ['statusTimestampAfter', { statusTimestampAfter: 'yesterday' }],
    ['pageToken', { pageToken: 'garbage' }],
  ] as const)(
    `a bad %s is named, not an empty list: %j ${verifies('list.filters', 'error.validation')}`,
    async (field, query) => {
      const refused = refusalOf(await door.list(query));
      expect(refused.reason).toMatch(/INVALID/);
      expect(JSON.stringify(refused.body)).toContain(field);
    },
  );

  test(`a page token serves its own caller and filters only ${verifies('list.pages-whole', 'list.scope')}`, async () => {
    const { nextPageToken } = okOf(await door.list({ pageSize: 3 }));
    const bob = makeDoor({ url: world.url, token: 'bob' });
    for (const refused of [
      await bob.list({ pageSize: 3, pageToken: nextPageToken }),
      await door.list({ pageSize: 3, pageToken: nextPageToken, contextId: 'c1' }),
      await door.list({ pageSize: 3, pageToken: `${nextPageToken.slice(0, -2)}AA` }),
    ]) {
      expect(JSON.stringify(refusalOf(refused).body)).toContain('pageToken');
    }
  });
});
