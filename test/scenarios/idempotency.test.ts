import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServerWorld, startWorld } from '../../src/testing/server-world.ts';
import { verifies } from '../requirements.ts';
import { doorMakers, jsonRpcDoor, messageOf, okOf, refusalOf, restDoor } from './door.ts';
import { nativeDoor } from './native-door.ts';
import { Gates, scenarioAgent } from './scenario-agent.ts';

describe('repeating a message never repeats work', () => {
  const gates = new Gates();
  let world: ServerWorld;
  beforeAll(async () => {
    world = await startWorld({ agents: [scenarioAgent(gates)] });
  });
  afterAll(() => world.close());

  test(`20 at once over all bindings: one task, one run ${verifies('idempotent.same', 'bindings.equal')}`, async () => {
    const message = messageOf({ skill: 'hold', text: 'twenty', messageId: 'twenty' });
    const native = nativeDoor({ url: world.url });
    const sends = Array.from({ length: 20 }, async (_, index) => {
      if (index % 3 === 2) return (await native.post('/v1/tasks', { message, returnImmediately: true })).body.task?.id;
      const door = (doorMakers[index % 2] ?? jsonRpcDoor)({ url: world.url });
      return okOf(await door.send({ ...message, configuration: { returnImmediately: index % 4 === 0 } })).task.id;
    });
    await gates.arrival('twenty');
    gates.open('twenty');
    expect(new Set(await Promise.all(sends)).size).toBe(1);
    expect(gates.arrivals('twenty')).toBe(1);
    const id = await sends[0];
    expect((await native.get(`/v1/tasks/${id}/runs`)).body.runs).toHaveLength(1);
  });

  test(`other content is a clear error, other metadata and configuration the same message ${verifies('idempotent.other-content', 'idempotent.metadata')}`, async () => {
    for (const makeDoor of [jsonRpcDoor, restDoor]) {
      const door = makeDoor({ url: world.url });
      const base = { skill: 'echo', text: 'one', messageId: `content-${door.name}` };
      const task = okOf(await door.send(base)).task;
      const conflict = refusalOf(await door.send({ ...base, text: 'two' }));
      expect(conflict.reason).toBe('MESSAGE_ID_CONFLICT');
      expect(conflict.message).toContain(base.messageId);
      expect(refusalOf(await door.send({ ...base, skill: 'slow' })).reason).toBe('MESSAGE_ID_CONFLICT');
      const same = okOf(
        await door.send({
          ...base,
          metadata: { note: 'x' },
          extensions: ['https://example.com/e'],
          configuration: { historyLength: 0 },
        }),
      ).task;
      expect(same.id).toBe(task.id);
    }
  });

  test(`a repeated answer and a repeated file make nothing new ${verifies('idempotent.same')}`, async () => {
    const door = jsonRpcDoor({ url: world.url });
    const native = nativeDoor({ url: world.url });
    const file = {
      messageId: 'file',
      skill: 'file',
      parts: [{ raw: Buffer.from('abc').toString('base64'), filename: 'a.bin' }],
    };
    const first = okOf(await door.send(file)).task;
    expect(okOf(await door.send(file)).task).toEqual(first);
    const { body } = await native.get(`/v1/tasks/${first.id}/artifacts`);
    expect(body.artifacts.filter((artifact: { origin: string }) => artifact.origin === 'input')).toHaveLength(1);
    expect(first.artifacts).toHaveLength(1);
  });

  test(`a repeat of a reply gets the same Message ${verifies('idempotent.same')}`, async () => {
    const door = restDoor({ url: world.url });
    const [a, b] = await Promise.all([
      door.send({ messageId: 'reply', skill: 'ping', text: 'x' }),
      door.send({ messageId: 'reply', skill: 'ping', text: 'x' }),
    ]);
    expect(okOf(a)).toEqual(okOf(b));
    expect(okOf(await door.send({ messageId: 'reply', skill: 'ping', text: 'x' }))).toEqual(okOf(a));
  });
});
