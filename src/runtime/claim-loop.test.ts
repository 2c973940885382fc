import { describe, expect, test } from 'vitest';
import { defineAgent } from '../agent/define-agent.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { countingStore, interceptStore } from '../testing/intercepted-store.ts';
import { createNode, echoAgent, textMessage } from '../testing/runtime-node.ts';

const other = defineAgent({ name: 'other', description: '-', run: (turn) => turn.text });

describe('a claim loop', () => {
  test('begins what waits as soon as a slot is freed, the longest waiting first', async () => {
    const node = await createNode({ slots: 2 });
    await node.start();
    const sent = [];
    for (let count = 0; count < 6; count += 1) {
      sent.push(await node.sendTask(`${count}`));
      await node.clock.advance(1);
    }
    for (let done = 1; done <= 4; done += 1)
      await node.settle(await node.engine.startedRun(done), { kind: 'succeeded' });
    await node.engine.startedRun(6);
    expect(node.engine.started.map(({ grant }) => grant.taskNo)).toEqual(sent.map(({ taskNo }) => taskNo));
    await node.stop();
  });

  test.each([
    ['by the wakeup', 'on', 0],
    ['by the poll alone', 'off', 1_000],
  ] as const)('finds what another part of this process queued %s', async (_how, wakeups, waitMs) => {
    const node = await createNode({ wakeups });
    await node.start();
    await node.clock.advance(1);
    const { store } = node;
    const draining = await createNode({ store, clock: node.clock, slots: 0, seed: 2 });
    await draining.sendTask('hello');
    node.system.hub.runnable();
    await node.clock.advance(0);
    expect(node.engine.started).toHaveLength(wakeups === 'on' ? 1 : 0);
    await node.clock.advance(waitMs);
    expect(node.engine.started).toHaveLength(1);
    await node.stop();
  });

  test('begins a delayed run when it falls due, not at the next poll', async () => {
    const node = await createNode({ config: { pollMs: 60_000 } });
    await node.start();
    await node.clock.advance(1);
    await node.sendTask('hello');
    await node.settle(await node.engine.startedRun(1), {
      kind: 'failed',
      reason: 'busy',
      message: textMessage('e', 'busy', { role: 'agent' }),
      retry: true,
    });
    await node.clock.advance(0);
    const second = await node.engine.startedRun(2);
    await node.settle(second, { kind: 'failed', reason: 'busy', message: textMessage('e', 'busy'), retry: true });
    await node.clock.advance(999);
    expect(node.engine.started).toHaveLength(2);
    await node.clock.advance(1);
    expect(node.engine.started).toHaveLength(3);
    await node.stop();
  });

  test('takes no run of an agent that is not served here', async () => {
    const clock = createFakeClock();
    const store = await openMemoryStore({ clock });
    const asker = await createNode({ clock, store, slots: 0, agents: [echoAgent, other] });
    const server = await createNode({ clock, store, seed: 2 });
    await asker.sendTask('a', { agent: other });
    const mine = await asker.sendTask('b');
    await server.start();
    await clock.advance('5s');
    expect(server.engine.started.map(({ grant }) => grant.taskNo)).toEqual([mine.taskNo]);
    await server.stop();
  });

  test('takes nothing while a run executes alone', async () => {
    const node = await createNode();
    await node.start();
    Object.assign(node.engine, { exclusive: true });
    const { task } = await node.sendTask('a');
    expect(task.state).toBe('submitted');
    await node.clock.advance('5s');
    expect(node.engine.started).toHaveLength(0);
    Object.assign(node.engine, { exclusive: false });
    await node.clock.advance('1s');
    expect(node.engine.started).toHaveLength(1);
    await node.stop();
  });

  test('asks an idle store once a poll, and no more', async () => {
    const clock = createFakeClock();
    const { store, calls } = countingStore(await openMemoryStore({ clock }));
    const node = await createNode({ clock, store });
    await node.start();
    await clock.advance(1);
    calls.clear();
    await clock.advance('60s');
    expect(calls.get('claim')).toBe(60);
    expect(calls.get('readHeads')).toBeUndefined();
    await node.stop();
    expect(clock.sleeping()).toBe(0);
  });

  test('goes on after claims that fail', async () => {
    const clock = createFakeClock();
    let isAway = true;
    const store = interceptStore(await openMemoryStore({ clock }), (name, call) =>
      isAway && name === 'claim' ? Promise.reject(new Error('away')) : call(),
    );
    const node = await createNode({ clock, store, slots: 1 });
    await node.start();
    await node.sendTask('a');
    const waiting = await node.sendTask('b');
    await node.settle(await node.engine.startedRun(1), { kind: 'succeeded' });
    await clock.advance('5s');
    isAway = false;
    await clock.advance('2s');
    expect(node.engine.started[1]?.grant.taskNo).toBe(waiting.taskNo);
    await node.stop();
  });

  test('begins nothing under a lease that was lost while the claim was on its way', async () => {
    const clock = createFakeClock();
    const inner = await openMemoryStore({ clock });
    let passMs = 0;
    const store = interceptStore(inner, async (name, call) => {
      const result = await call();
      if (name === 'claim' && passMs > 0) await clock.sleep(passMs, new AbortController().signal);
      return result;
    });
    const asker = await createNode({ clock, store: inner, slots: 0, seed: 2 });
    const node = await createNode({ clock, store, config: { leaseMs: 3_000, sweepMs: 1_000 } });
    await node.start();
    await clock.advance(1);
    await asker.sendTask('a');
    passMs = 10_000;
    const renew = inner.renewWorker.bind(inner);
    inner.renewWorker = async () => false;
    await clock.advance('2s');
    passMs = 0;
    inner.renewWorker = renew;
    expect(node.engine.started).toHaveLength(0);
    await clock.advance('20s');
    expect(node.engine.started).toHaveLength(1);
    expect(node.engine.started[0]?.grant.attempt).toBe(2);
    await node.stop();
  });
});
