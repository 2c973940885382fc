import { describe, expect, test } from 'vitest';
import { chunk, createNode } from '../testing/runtime-node.ts';

describe('a first message', () => {
  test('makes a task that its sender first sees as submitted', async () => {
    const node = await createNode();
    await node.start();
    const sent = await node.sendTask('hello', { traceId: 'a'.repeat(32) });
    expect(sent.first?.task.state).toBe('submitted');
    expect(sent.task.state).toBe('working');
    expect((await node.log(sent.taskNo)).map((event) => event.kind)).toEqual([
      'task-created',
      'message-received',
      'status-changed',
      'run-started',
      'status-changed',
    ]);
    const grant = await node.engine.startedRun(1);
    await node.emit(grant, chunk(grant, 'a', { append: false }));
    await node.settle(grant, { kind: 'succeeded' });
    await node.stop();
  });
});
