import { describe, expect, test } from 'vitest';
import { defineAgent } from '../agent/define-agent.ts';
import { reply, skill } from '../agent/definition.ts';
import type { Schema } from '../agent/schema.ts';
import { limits } from '../base/limits.ts';
import type { MessageId } from '../model/ids.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { callerNamed, createNode, echoAgent, positiveCents, textMessage } from '../testing/runtime-node.ts';

describe('a message that was used before', () => {
  test('20 equal uploads at once are staged once', async () => {
    const node = await createNode();
    const raw = new Uint8Array(limits.blobSliceBytes * 2);
    let slices = 0;
    const { stageSlice } = node.store;
    Object.assign(node.store, {
      stageSlice: (slice: Parameters<typeof stageSlice>[0]) => {
        slices += 1;
        return stageSlice.call(node.store, slice);
      },
    });
    const send = () => node.sendTask({ messageId: 'm1' as MessageId, parts: [{ kind: 'raw', raw }] });
    const sent = await Promise.all(Array.from({ length: 20 }, send));
    expect(new Set(sent.map(({ task }) => task.id)).size).toBe(1);
    expect(slices).toBe(2);
    await expect(
      node.sendTask({ messageId: 'm1' as MessageId, parts: [{ kind: 'raw', raw: raw.fill(1) }] }),
    ).rejects.toMatchObject({ code: 'message_id_conflict' });
    expect(slices).toBe(2);
  });

  test('20 at once, on two nodes, are one task', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const store = await openMemoryStore({ clock: createFakeClock() });
      const nodes = [await createNode({ store, seed }), await createNode({ store, seed: seed + 1_000 })];
      for (const node of nodes) await node.start();
      const message = textMessage('m1', 'hello');
      const sent = await Promise.all(Array.from({ length: 20 }, (_item, at) => nodes[at % 2]!.sendTask(message)));
      expect(new Set(sent.map(({ task }) => task.id)).size, `seed ${seed}`).toBe(1);
      expect(sent.filter(({ repeated }) => !repeated)).toHaveLength(1);
      expect(nodes.flatMap(({ engine }) => engine.started)).toHaveLength(1);
      for (const node of nodes) await node.stop();
    }
  });

  test.each(['task', 'reply'] as const)(
    'finds its task where its skill would refuse it today, or is a %s skill today',
    async (kind) => {
      const store = await openMemoryStore({ clock: createFakeClock() });
      const { '~standard': strict } = positiveCents;
      const lenient: Schema = { '~standard': { ...strict, validate: (value) => ({ value }) } };
      const run = (): string => 'paid';
      const refund = (how: { readonly kind: 'task' | 'reply'; readonly input: Schema }) =>
        (how.kind === 'reply' ? reply : skill)({ description: 'Refunds.', input: how.input, run });
      const bank = (how: Parameters<typeof refund>[0]) =>
        defineAgent({ name: 'bank', description: 'A bank.', skills: { refund: refund(how) } });
      const before = await createNode({ store, agents: [bank({ kind: 'task', input: lenient })] });
      const after = await createNode({ store, seed: 2, agents: [bank({ kind, input: positiveCents })] });
      const send = (node: typeof before, cents: number) =>
        node.sendTask({ messageId: 'm1' as MessageId, parts: [{ kind: 'data', data: { cents } }] });
      const { task } = await send(before, 0);
      expect(await send(after, 0)).toMatchObject({ repeated: true, task: { id: task.id } });
      await expect(send(after, -1)).rejects.toMatchObject({ code: 'message_id_conflict' });
    },
  );

  test('finds its task after it has ended, on a node that starts later', async () => {
    const store = await openMemoryStore({ clock: createFakeClock() });
    const before = await createNode({ store });
    await before.start();
    const sent = await before.sendTask(textMessage('m1', 'hello'));
    await before.settle(await before.engine.startedRun(1), { kind: 'succeeded' });
    await before.stop();
    const after = await createNode({ store, seed: 2 });
    const again = await after.sendTask(textMessage('m1', 'hello'));
    expect(again).toMatchObject({
      repeated: true,
      turnNo: 1,
      messageSeq: 2,
      task: { id: sent.task.id, state: 'completed' },
    });
    expect(again.first).toBeUndefined();
  });

  test('with other content is refused by name, and runs nothing', async () => {
    const node = await createNode();
    const sent = await node.sendTask(textMessage('m1', 'hello'));
    await expect(node.send(textMessage('m1', 'goodbye'))).rejects.toMatchObject({
      code: 'message_id_conflict',
      message: `Message m1 was already used for task ${sent.task.id} with other content (parts[0].text differs). Use a new messageId for a new message.`,
    });
    expect((await node.store.stats()).tasks.submitted).toBe(1);
  });

  test('with other metadata is the same; with another skill it is not', async () => {
    const node = await createNode();
    await node.sendTask(textMessage('m1', 'hello'));
    expect(await node.sendTask(textMessage('m1', 'hello', { metadata: { a: 1 } }))).toMatchObject({ repeated: true });
    await expect(node.send(textMessage('m1', 'hello'), { metadata: { skillId: 'default' } })).rejects.toMatchObject({
      code: 'message_id_conflict',
    });
  });

  test('is a new message in another scope, for another agent, and where ids mean nothing', async () => {
    const free = defineAgent({
      name: 'free',
      description: 'Free.',
      policy: { idempotency: 'off' },
      run: (turn) => turn.text,
    });
    const node = await createNode({ agents: [echoAgent, free] });
    const message = textMessage('m1', 'hello');
    const first = await node.sendTask(message);
    const ids = [
      await node.sendTask(message, { caller: callerNamed('b') }),
      await node.sendTask(message, { agent: free }),
      await node.sendTask(message, { agent: free }),
    ].map(({ task }) => task.id);
    expect(new Set([first.task.id, ...ids]).size).toBe(4);
  });
});
