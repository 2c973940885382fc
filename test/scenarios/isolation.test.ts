import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServerWorld, startWorld } from '../../src/testing/server-world.ts';
import { testAuthenticator } from '../../src/testing/test-authenticator.ts';
import { verifies } from '../requirements.ts';
import { type Door, doorMakers, okOf, refusalOf } from './door.ts';
import { nativeDoor } from './native-door.ts';
import { Gates, scenarioAgent } from './scenario-agent.ts';

const ABSENT = '01234567-89ab-7def-8123-456789abcdef';

describe('one answer for foreign and absent ids', () => {
  const gates = new Gates();
  let world: ServerWorld;
  beforeAll(async () => {
    world = await startWorld({ agents: [scenarioAgent(gates)], auth: testAuthenticator() });
  });
  afterAll(() => world.close());

  async function tasksOf(door: Door): Promise<Record<string, string>> {
    const gate = `live-${door.name}`;
    const live = okOf(await door.send({ skill: 'hold', text: gate, configuration: { returnImmediately: true } })).task
      .id;
    await gates.arrival(gate);
    return {
      finished: okOf(await door.send({ skill: 'echo', text: 'x' })).task.id,
      live,
      waiting: okOf(await door.send({ skill: 'ask', text: 'x' })).task.id,
    };
  }

  /** The answer but for the id and the time in it. */
  const masked = (body: unknown, id: string) =>
    JSON.stringify(body)
      .replaceAll(id, 'ID')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');

  test.each(doorMakers)(`%o ${verifies('auth.scoped', 'bindings.equal')}`, async (makeDoor) => {
    const ann = makeDoor({ url: world.url, token: 'ann' });
    const bob = makeDoor({ url: world.url, token: 'bob' });
    const operations: Record<string, (id: string) => Promise<unknown>> = {
      get: async (id) => refusalOf(await bob.get(id)).body,
      cancel: async (id) => refusalOf(await bob.cancel(id)).body,
      subscribe: async (id) => refusalOf(await bob.subscribe(id)).body,
      send: async (id) => refusalOf(await bob.send({ taskId: id, messageId: 'same' })).body,
      stream: async (id) => refusalOf(await bob.stream({ taskId: id, messageId: 'same' })).body,
    };
    for (const [state, id] of Object.entries(await tasksOf(ann))) {
      const before = okOf(await ann.get(id));
      for (const [name, operation] of Object.entries(operations)) {
        expect(masked(await operation(id), id), `${name} of a ${state} task`).toBe(
          masked(await operation(ABSENT), ABSENT),
        );
      }
      expect(okOf(await ann.get(id))).toEqual(before);
    }
  });

  test(`native ${verifies('auth.scoped', 'native.same-rows')}`, async () => {
    const ann = doorMakers[0]({ url: world.url, token: 'ann' });
    const bob = nativeDoor({ url: world.url, token: 'bob' });
    const paths = ['', '/events', '/runs', '/artifacts', '/artifacts/some'];
    const { task } = okOf(await ann.send({ skill: 'file', parts: [{ raw: 'AAEC', filename: 'a.bin' }] }));
    for (const id of [task.id, okOf(await ann.send({ skill: 'ask', text: 'x' })).task.id]) {
      for (const path of paths) {
        const foreign = await bob.get(`/v1/tasks/${id}${path}`);
        const absent = await bob.get(`/v1/tasks/${ABSENT}${path}`);
        expect(foreign.status, path).toBe(404);
        expect(masked(foreign, id), path).toBe(masked(absent, ABSENT));
      }
      for (const path of ['/cancel', '/resume']) {
        const foreign = await bob.post(`/v1/tasks/${id}${path}`);
        expect(foreign.status, path).toBe(404);
        expect(masked(foreign, id), path).toBe(masked(await bob.post(`/v1/tasks/${ABSENT}${path}`), ABSENT));
      }
    }
    for (const path of ['', '/abort']) {
      const method = path === '' ? bob.get : bob.post;
      const foreign = await method(`/v1/sessions/${task.contextId}${path}`);
      expect(foreign.status).toBe(404);
      expect(masked(foreign, task.contextId)).toBe(masked(await method(`/v1/sessions/${ABSENT}${path}`), ABSENT));
    }
  });

  test(`lists, contexts and message ids are each caller's own ${verifies('list.scope', 'auth.scoped')}`, async () => {
    const ann = doorMakers[0]({ url: world.url, token: 'ann' });
    const eve = doorMakers[1]({ url: world.url, token: 'eve' });
    const mine = okOf(await ann.send({ skill: 'echo', text: 'mine', messageId: 'shared', contextId: 'shared' })).task;
    expect(okOf(await eve.list()).tasks).toEqual([]);
    expect(okOf(await eve.list({ contextId: 'shared' })).totalSize).toBe(0);
    const hers = okOf(
      await eve.send({ skill: 'echo', text: 'other words', messageId: 'shared', contextId: 'shared' }),
    ).task;
    expect(hers.id).not.toBe(mine.id);
    expect(hers.history).toHaveLength(1);
    expect(okOf(await eve.list()).tasks.map((task: { id: string }) => task.id)).toEqual([hers.id]);
  });

  test(`a bad token is refused as such ${verifies('auth.unauthenticated')}`, async () => {
    for (const makeDoor of doorMakers) {
      const refused = refusalOf(await makeDoor({ url: world.url }).get(ABSENT));
      expect(refused.status).toBe(401);
      expect(refused.reason).not.toBe('TASK_NOT_FOUND');
    }
    expect((await nativeDoor({ url: world.url }).get(`/v1/tasks/${ABSENT}`)).status).toBe(401);
  });
});
