import { describe, expect, test } from 'vitest';
import { defineAgent } from '../agent/define-agent.ts';
import { seededRandom } from '../base/random.ts';
import type { Seq, TaskId } from '../model/ids.ts';
import type { Message } from '../model/message.ts';
import { anonymousCaller } from '../model/scope.ts';
import { isTerminal } from '../model/task.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { interceptStore } from '../testing/intercepted-store.ts';
import {
  callerNamed,
  collect,
  createNode,
  echoAgent,
  never,
  type RuntimeNode,
  textMessage,
} from '../testing/runtime-node.ts';

const question: Message = textMessage('q1', 'Which?', { role: 'agent' });

function cancel(
  node: RuntimeNode,
  taskId: TaskId,
  more: { signal?: AbortSignal; name?: string } = {},
): Promise<string> {
  const { signal = never, name } = more;
  const caller = name === undefined ? anonymousCaller : callerNamed(name);
  return node.runtime.cancel({ caller, agent: node.agent, taskId, signal }).then(
    () => 'canceled',
    (error) => (error.name === 'AbortError' ? error.name : error.code),
  );
}

async function terminals(node: RuntimeNode, taskNo: never): Promise<readonly string[]> {
  const log = await node.log(taskNo);
  return log.flatMap((event) => (event.kind === 'status-changed' && isTerminal(event.state) ? [event.state] : []));
}

describe('a cancel', () => {
  test('of a task that nobody works on is carried out at once', async () => {
    const node = await createNode({ slots: 0 });
    const { task, taskNo } = await node.sendTask('hello');
    expect(await cancel(node, task.id)).toBe('canceled');
    const log = await node.log(taskNo);
    expect(log.slice(3).map((event) => event.kind)).toEqual(['cancel-requested', 'run-settled', 'status-changed']);
    expect(await cancel(node, task.id)).toBe('task_not_cancelable');
    expect(await node.log(taskNo)).toEqual(log);
  });

  test('of a waiting task too', async () => {
    const node = await createNode();
    await node.start();
    const { task } = await node.sendTask('hello');
    const grant = await node.engine.startedRun(1);
    await node.settle(grant, { kind: 'interrupted', state: 'input-required', message: question });
    expect(await cancel(node, task.id)).toBe('canceled');
  });

  test('of a running task tells the run, and waits for its end', async () => {
    const node = await createNode();
    await node.start();
    const { task, taskNo } = await node.sendTask('hello');
    const grant = await node.engine.startedRun(1);
    const wait = cancel(node, task.id);
    await node.clock.advance(0);
    expect(node.engine.canceled).toEqual([taskNo]);
    await node.settle(grant, { kind: 'succeeded' });
    expect(await wait).toBe('canceled');
    expect(await terminals(node, taskNo as never)).toEqual(['canceled']);
    expect(node.system.hub.counts().followers).toBe(0);
  });

  test('of a run that does not listen is carried out after the grace, not at the next sweep', async () => {
    const node = await createNode({ config: { sweepMs: 600_000 } });
    await node.start();
    await node.clock.advance(1);
    const { task, taskNo } = await node.sendTask('hello');
    const grant = await node.engine.startedRun(1);
    const wait = cancel(node, task.id);
    await node.clock.advance(1_999);
    expect(await terminals(node, taskNo as never)).toEqual([]);
    await node.clock.advance(1);
    expect(await wait).toBe('canceled');
    await expect(node.emit(grant, { kind: 'timer-fired', key: 'late' })).rejects.toMatchObject({ code: 'lease_lost' });
    await node.stop();
  });

  test('20 at once: all get it, the run is told, one end', async () => {
    const node = await createNode();
    await node.start();
    const { task, taskNo } = await node.sendTask('hello');
    const grant = await node.engine.startedRun(1);
    const waits = Array.from({ length: 20 }, () => cancel(node, task.id));
    await node.clock.advance(0);
    await node.settle(grant, { kind: 'failed', reason: 'aborted', message: question, retry: false });
    expect(new Set(await Promise.all(waits))).toEqual(new Set(['canceled']));
    const kinds = (await node.log(taskNo)).map((event) => event.kind);
    expect(kinds.filter((kind) => kind === 'cancel-requested')).toHaveLength(1);
    expect(await terminals(node, taskNo as never)).toEqual(['canceled']);
    expect(await cancel(node, task.id)).toBe('task_not_cancelable');
  });

  test('of what is not there, or not yours, is one answer', async () => {
    const node = await createNode({ slots: 0 });
    const { task, taskNo } = await node.sendTask('hello');
    expect(await cancel(node, 'absent' as TaskId)).toBe('task_not_found');
    expect(await cancel(node, task.id, { name: 'b' })).toBe('task_not_found');
    expect(await node.log(taskNo)).toHaveLength(3);
  });

  test('follows the policy of the agent', async () => {
    const agent = defineAgent({
      name: 'busy',
      description: '-',
      policy: { cancel: 'submitted-only' },
      run: (turn) => turn.text,
    });
    const node = await createNode({ agents: [agent], slots: 1 });
    await node.start();
    const working = await node.sendTask('a');
    const queued = await node.sendTask('b');
    expect(await cancel(node, working.task.id)).toBe('task_not_cancelable');
    expect(await cancel(node, queued.task.id)).toBe('canceled');
    await node.stop();
  });

  test('that its caller leaves stays recorded; one at a stopping server is told so', async () => {
    const node = await createNode();
    await node.start();
    const { task, taskNo } = await node.sendTask('hello');
    const stop = new AbortController();
    const left = cancel(node, task.id, { signal: stop.signal });
    await node.clock.advance(0);
    stop.abort();
    expect(await left).toBe('AbortError');
    const late = cancel(node, task.id);
    await node.clock.advance(0);
    await node.stop();
    expect(await late).toBe('unavailable');
    expect((await node.store.readView(taskNo))?.task.cancelAt).toBeDefined();
    expect(node.clock.sleeping()).toBe(0);
  });
});

describe('a cancel and an end at one moment', () => {
  const LOOPS = 200;
  test('leave one terminal event, and each side a defined answer', async () => {
    const outcomes = new Map<string, number>();
    for (let seed = 1; seed <= LOOPS; seed += 1) {
      const random = seededRandom(seed);
      const inner = await openMemoryStore({ clock: createFakeClock() });
      const store = interceptStore(inner, async (_name, call) => {
        for (let turn = Math.floor(random.fraction() * 3); turn > 0; turn -= 1)
          await new Promise((r) => setImmediate(r));
        return await call();
      });
      const node = await createNode({ store, seed });
      await node.start();
      const { task, taskNo } = await node.sendTask('hello');
      const grant = await node.engine.startedRun(1);
      const settle = async (): Promise<string> => {
        for (;;) {
          const result = await node.settle(grant, { kind: 'succeeded' });
          if (result.kind !== 'moved') return result.kind;
        }
      };
      const feed = collect(node.runtime.follow(taskNo, { after: 0 as Seq, signal: never }));
      const [answer] = await Promise.all([cancel(node, task.id), settle()]);
      const ends = await terminals(node, taskNo as never);
      expect(ends, `seed ${seed}`).toEqual([answer === 'canceled' ? 'canceled' : 'completed']);
      const { events } = await feed;
      expect(events.at(-1), `seed ${seed}`).toMatchObject({ kind: 'status-changed', state: ends[0] });
      outcomes.set(answer, (outcomes.get(answer) ?? 0) + 1);
      await node.stop();
    }
    expect([...outcomes.keys()].sort()).toEqual(['canceled', 'task_not_cancelable']);
  });

  test('a message for a canceled task changes nothing', async () => {
    const node = await createNode({ slots: 0, agents: [echoAgent] });
    const { task, taskNo } = await node.sendTask('hello');
    await cancel(node, task.id);
    const log = await node.log(taskNo);
    await expect(node.send({ taskId: task.id })).rejects.toMatchObject({ code: 'unsupported_operation' });
    expect(await node.log(taskNo)).toEqual(log);
  });
});
