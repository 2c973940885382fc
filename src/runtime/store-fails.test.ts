import { describe, expect, test } from 'vitest';
import { defineAgent } from '../agent/define-agent.ts';
import { inputRequired } from '../agent/errors.ts';
import type { StoredEvent } from '../model/event.ts';
import type { TaskNo } from '../model/ids.ts';
import { anonymousCaller } from '../model/scope.ts';
import { isTerminal } from '../model/task.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { type FailingStore, type Failure, failingStore } from '../testing/failing-store.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { createNode, never, type RuntimeNode, readLog, textMessage } from '../testing/runtime-node.ts';

/** Asks once, then echoes: a task with two turns. */
const asking = defineAgent({
  name: 'echo',
  description: '-',
  run: (turn) => (turn.history.length === 0 ? inputRequired('Which?') : turn.text),
});

interface World {
  readonly node: RuntimeNode;
  readonly failing: FailingStore;
}

async function createWorld(): Promise<World> {
  const clock = createFakeClock();
  const inner = await openMemoryStore({ clock });
  // A database that lost the answer to a grant gives it again; this store cannot, so it says what a worker holds.
  inner.leasedTo = async (workerNo) => {
    const view = await inner.readView(1 as TaskNo);
    const run = view?.run;
    return run?.state === 'leased' && run.workerNo === workerNo ? [{ taskNo: 1 as TaskNo, fence: run.fence }] : [];
  };
  const failing = failingStore(inner);
  const node = await createNode({ clock, store: failing.store, engine: 'lease', agents: [asking] });
  await node.start();
  await clock.advance(1);
  return { node, failing };
}

const first = textMessage('m1', 'hello');
const send = (node: RuntimeNode): Promise<unknown> => node.send(first);
const answer = async (node: RuntimeNode): Promise<unknown> => {
  const sent = await node.sendTask(first);
  return await node.send(textMessage('m2', 'this one', { taskId: sent.task.id }));
};
const cancel = async (node: RuntimeNode): Promise<unknown> => {
  const { task } = await node.sendTask(first);
  return await node.runtime.cancel({ caller: anonymousCaller, agent: node.agent, taskId: task.id, signal: never });
};

async function state(node: RuntimeNode): Promise<string | undefined> {
  return (await node.store.readView(1 as TaskNo))?.task.state;
}

async function untilState(node: RuntimeNode, wanted: readonly string[]): Promise<void> {
  for (let waits = 0; waits < 3_000; waits += 1) {
    if (wanted.includes((await state(node)) ?? '')) return;
    await node.clock.advance(200);
  }
  throw new Error(`the task is stuck in ${await state(node)}, not in ${wanted.join(' or ')}`);
}

/** What no failure may break: places without a hole, one end and nothing after it, each message once. */
function checkLog(log: readonly StoredEvent[]): void {
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_event, at) => at + 1));
  const ends = log.flatMap((event, at) => (event.kind === 'status-changed' && isTerminal(event.state) ? [at] : []));
  expect(ends.every((at) => at === log.length - 1)).toBe(true);
  const messages = log.flatMap((event) => (event.kind === 'message-received' ? [event.message.messageId] : []));
  expect(new Set(messages).size).toBe(messages.length);
}

interface Scenario {
  readonly name: string;
  /** What has happened before the store begins to fail. */
  readonly before: (node: RuntimeNode) => Promise<unknown>;
  readonly act: (node: RuntimeNode) => Promise<unknown>;
  readonly ends: readonly string[];
}

const scenarios: readonly Scenario[] = [
  { name: 'submit', before: async () => {}, act: send, ends: ['input-required'] },
  {
    name: 'continue',
    before: async (node) => {
      await send(node);
      await untilState(node, ['input-required']);
    },
    act: answer,
    ends: ['completed'],
  },
  {
    name: 'cancel',
    before: async (node) => {
      await send(node);
      await untilState(node, ['input-required']);
    },
    act: cancel,
    ends: ['canceled'],
  },
];

const CALLS_MAX = 200;

async function breakEveryCall(scenario: Scenario, failure: Omit<Failure, 'failingCall'>): Promise<number> {
  for (let failingCall = 1; failingCall <= CALLS_MAX; failingCall += 1) {
    const { node, failing } = await createWorld();
    await scenario.before(node);
    failing.arm({ ...failure, failingCall });
    const acted = scenario.act(node).then(
      () => 'taken',
      (error) => error.code as string,
    );
    await node.clock.advance('3s');
    const { wasReached } = failing;
    failing.mend();
    await node.clock.advance('1s');
    expect(['taken', 'unavailable', 'task_not_cancelable'], `call ${failingCall}`).toContain(await acted);
    if (scenario.name !== 'cancel' || (await state(node)) !== 'canceled') await scenario.act(node);
    await untilState(node, scenario.ends);
    checkLog(await readLog(node.store, 1 as TaskNo));
    expect(node.store.name).toBe('memory');
    await node.stop();
    expect(node.clock.sleeping(), `call ${failingCall}`).toBe(0);
    if (!wasReached) return failingCall;
  }
  throw new Error('CALLS_MAX is too small');
}

describe.each(scenarios)('$name survives', (scenario) => {
  test.each([
    { mode: 'once', when: 'before' },
    { mode: 'once', when: 'after' },
    { mode: 'from-then-on', when: 'before' },
    { mode: 'from-then-on', when: 'after' },
  ] as const)('a store that fails $mode, $when a call takes effect', async (failure) => {
    expect(await breakEveryCall(scenario, failure)).toBeGreaterThan(2);
  });
});
