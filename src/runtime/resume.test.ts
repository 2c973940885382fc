import { describe, expect, test } from 'vitest';
import type { TaskId } from '../model/ids.ts';
import type { Message } from '../model/message.ts';
import { anonymousCaller } from '../model/scope.ts';
import { callerNamed, createNode, type RuntimeNode, textMessage } from '../testing/runtime-node.ts';
import { RESUMED_KEY } from './resume.ts';

const signIn: Message = textMessage('q1', 'Sign in.', { role: 'agent' });
const resume = (node: RuntimeNode, taskId: TaskId, caller = anonymousCaller): Promise<void> =>
  node.runtime.resume({ caller, agent: node.agent, taskId });

describe('a resume', () => {
  test('begins the next turn with the same content where the handler had ended its turn', async () => {
    const node = await createNode();
    await node.start();
    const { task, taskNo } = await node.sendTask(textMessage('m1', 'book it'));
    await node.settle(await node.engine.startedRun(1), {
      kind: 'interrupted',
      state: 'auth-required',
      message: signIn,
    });
    await resume(node, task.id);
    const grant = await node.engine.startedRun(2);
    expect(grant.turn.turnNo).toBe(2);
    const { message } = await node.store.readTurn(grant);
    expect(message.message).toMatchObject({
      role: 'user',
      parts: [{ text: 'book it' }],
      metadata: { [RESUMED_KEY]: true },
    });
    expect((await node.store.readView(taskNo))?.task.state).toBe('working');
  });

  test('lets a parked turn go on where it waited', async () => {
    const node = await createNode();
    await node.start();
    const { task } = await node.sendTask(textMessage('m1', 'book it'));
    const key = 'authorize:mail';
    const question = { kind: 'authorize', askId: key, text: 'Sign in.', scheme: 'oauth' } as const;
    await node.settle(await node.engine.startedRun(1), {
      kind: 'parked',
      suspensions: [{ turnNo: 1 as never, key, kind: 'authorize', state: 'open', question }],
      events: [{ kind: 'question-asked', askId: key, question }],
      wake: { key },
      status: { state: 'auth-required', message: signIn },
    });
    await resume(node, task.id);
    const grant = await node.engine.startedRun(2);
    expect(grant).toMatchObject({ attempt: 2, turn: { turnNo: 1, messageId: 'm1' } });
    expect((await node.store.readTurn(grant)).journal).toMatchObject([{ key, state: 'done' }]);
  });

  test('is refused in any other state, and for whom the task does not exist', async () => {
    const node = await createNode();
    await node.start();
    const { task } = await node.sendTask('hello');
    await expect(resume(node, task.id)).rejects.toMatchObject({ code: 'unsupported_operation' });
    await expect(resume(node, task.id, callerNamed('b'))).rejects.toMatchObject({ code: 'task_not_found' });
    await expect(resume(node, 'absent' as TaskId)).rejects.toMatchObject({ code: 'task_not_found' });
  });

  test('twice at once is one run', async () => {
    const node = await createNode();
    await node.start();
    const { task } = await node.sendTask('hello');
    await node.settle(await node.engine.startedRun(1), {
      kind: 'interrupted',
      state: 'auth-required',
      message: signIn,
    });
    const outcomes = await Promise.allSettled([resume(node, task.id), resume(node, task.id)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(node.engine.started).toHaveLength(2);
  });
});
