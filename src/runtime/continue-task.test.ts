import { describe, expect, test } from 'vitest';
import { defineAgent } from '../agent/define-agent.ts';
import { type Agent, skill } from '../agent/definition.ts';
import type { Schema } from '../agent/schema.ts';
import { limits } from '../base/limits.ts';
import type { Message, Part } from '../model/message.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { countingStore } from '../testing/intercepted-store.ts';
import { createNode, never, type RuntimeNode, textMessage } from '../testing/runtime-node.ts';
import { createSecrets } from './secrets.ts';
import { openContent } from './thin-message.ts';

const question: Message = textMessage('q1', 'Which?', { role: 'agent' });
const secrets = createSecrets(new Uint8Array(32).fill(7));
const large: Part = { kind: 'raw', raw: new Uint8Array(limits.inlineRawBytesMax + 1), filename: 'large.bin' };

/** A task whose first run asked and parked, or ended its turn, as the ending says. */
async function asking(node: RuntimeNode, how: 'parked' | 'interrupted', schema?: { readonly type: string }) {
  await node.start();
  const { task, taskNo } = await node.sendTask(textMessage('m1', 'hello'));
  const grant = await node.engine.startedRun(1);
  const key = 'ask:Which?';
  const asked = { kind: 'ask', askId: key, text: 'Which?', ...(schema === undefined ? {} : { schema }) } as const;
  await node.settle(
    grant,
    how === 'interrupted'
      ? { kind: 'interrupted', state: 'input-required', message: question }
      : {
          kind: 'parked',
          suspensions: [{ turnNo: grant.turn.turnNo, key, kind: 'ask', state: 'open', question: asked }],
          events: [{ kind: 'question-asked', askId: key, question: asked }],
          wake: { key },
          status: { state: 'input-required', message: question },
        },
  );
  return { taskId: task.id, taskNo };
}

describe('an answer', () => {
  test('goes on with the turn that asked, under a new run', async () => {
    const node = await createNode();
    const { taskId } = await asking(node, 'parked', { type: 'number' });
    const sent = await node.sendTask(textMessage('m2', '42', { taskId }));
    expect(sent).toMatchObject({ turnNo: 1, task: { state: 'working' } });
    const grant = await node.engine.startedRun(2);
    expect(grant).toMatchObject({ attempt: 2, turn: { turnNo: 1, messageId: 'm1' } });
    expect((await node.store.readTurn(grant)).journal).toMatchObject([{ state: 'done', result: '42' }]);
    await node.stop();
  });

  test('that does not fit is kept, and its sender is told at once that the question stands', async () => {
    const node = await createNode();
    const { taskId, taskNo } = await asking(node, 'parked', { type: 'number' });
    const sent = await node.sendTask(textMessage('m2', 'blue', { taskId }));
    await node.runtime.awaitTurn({ ...sent, after: sent.messageSeq }, never);
    expect(sent.task.state).toBe('input-required');
    expect((await node.log(taskNo)).at(-1)).toMatchObject({
      state: 'input-required',
      message: {
        role: 'agent',
        taskId,
        parts: [{ text: expect.stringMatching(/does not fit/) }, { text: 'Which?' }, {}],
      },
    });
    expect(node.engine.started).toHaveLength(1);
    await node.stop();
  });

  test('whose data is wrong is refused by field, and nothing is stored', async () => {
    const node = await createNode();
    const { taskId, taskNo } = await asking(node, 'parked', { type: 'number' });
    const head = (await node.log(taskNo)).length;
    await expect(node.send({ taskId, parts: [{ kind: 'data', data: 'blue' }] })).rejects.toMatchObject({
      code: 'invalid_argument',
      detail: { violations: [{ field: 'message.parts[0].data' }] },
    });
    expect(await node.log(taskNo)).toHaveLength(head);
    await node.stop();
  });

  test('to a question that is not open finds none', async () => {
    const node = await createNode();
    const { taskId } = await asking(node, 'parked');
    const data = { askId: 'ask:Another?', action: 'accept', content: 1 };
    await expect(node.send({ taskId, parts: [{ kind: 'data', data }] })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    await node.stop();
  });
});

describe('files of a later message', () => {
  test('are input artifacts of the turn they belong to; refused ones leave no blob', async () => {
    const clock = createFakeClock();
    const { store, calls } = countingStore(await openMemoryStore({ clock }));
    const node = await createNode({ clock, store });
    const { taskId, taskNo } = await asking(node, 'interrupted');
    await node.send({ messageId: 'm2' as never, taskId, parts: [large] });
    const [input] = (await node.log(taskNo)).filter((event) => event.kind === 'artifact-updated');
    expect(input).toMatchObject({
      origin: 'input',
      turnNo: 2,
      header: { name: 'large.bin' },
      parts: [{ kind: 'blob' }],
    });
    const slices = calls.get('stageSlice');
    await expect(node.send({ messageId: 'm3' as never, taskId, parts: [large] })).rejects.toMatchObject({
      code: 'unsupported_operation',
    });
    expect(calls.get('stageSlice')).toBe(slices);
    await node.stop();
  });
});

describe('the next turn', () => {
  const yes: Schema = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => (value === 'yes' ? { value } : { issues: [{ message: 'must be yes' }] }),
    },
  };

  test('of a skill with an input schema begins with nothing else', async () => {
    const confirm = skill({ description: '-', input: yes, run: () => 'done' });
    const agent = defineAgent({ name: 'echo', description: '-', skills: { confirm } });
    const node = await createNode({ agents: [agent as Agent] });
    await node.start();
    const { task } = await node.sendTask(textMessage('m1', 'yes'));
    await node.settle(await node.engine.startedRun(1), {
      kind: 'interrupted',
      state: 'input-required',
      message: question,
    });
    await expect(node.send(textMessage('m2', 'no', { taskId: task.id }))).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    expect((await node.sendTask(textMessage('m2', 'yes', { taskId: task.id }))).turnNo).toBe(2);
    await node.stop();
  });

  test.each(['interrupted', 'busy'] as const)('of an agent that keeps no content is sealed too (%s)', async (when) => {
    const policy = { storeContent: false, whenBusy: 'queue' } as const;
    const agent = defineAgent({ name: 'echo', description: '-', policy, run: (turn) => turn.text });
    const node = await createNode({ agents: [agent] });
    await node.start();
    const { task, taskNo } = await node.sendTask(textMessage('m1', 'hello'));
    const first = await node.engine.startedRun(1);
    const message = textMessage('m2', 'a secret', { taskId: task.id });
    const interrupted = { kind: 'interrupted', state: 'input-required', message: question } as const;
    if (when === 'interrupted') await node.settle(first, interrupted);
    await node.sendTask({ ...message, parts: [...message.parts, large] });
    if (when === 'busy') await node.settle(first, { kind: 'succeeded' });
    const grant = await node.engine.startedRun(2);
    const material = await node.store.readTurn(grant);
    expect(JSON.stringify(await node.log(taskNo))).not.toContain('secret');
    expect((await node.log(taskNo)).filter((event) => event.kind === 'artifact-updated')).toEqual([]);
    expect(openContent(secrets, material.message.message, material.input!).parts).toEqual([...message.parts, large]);
    await node.stop();
  });
});

test('what is logged of a message names its session, task, run, thread and trace, and no word of it', async () => {
  const node = await createNode();
  const { task } = await node.sendTask(textMessage('m1', 'a secret'), { traceId: 'c'.repeat(32) });
  const [line] = node.logged.filter(({ message }) => message === 'task created');
  expect(line?.fields).toEqual({
    sessionId: task.contextId,
    taskId: task.id,
    threadId: task.threadId,
    traceId: 'c'.repeat(32),
    runId: expect.any(String),
  });
  expect(JSON.stringify(node.logged)).not.toContain('secret');
});
