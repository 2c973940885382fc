import { expect, test } from 'vitest';
import { limits } from '../base/limits.ts';
import type { Seq, TaskId, TaskNo } from '../model/ids.ts';
import type { Task } from '../model/task.ts';
import { emptyContent, type TaskContent } from '../model/task-fold.ts';
import type { Snapshot, SnapshotWant } from '../store/contract.ts';
import { LargeTasks } from './large-tasks.ts';

const id = 't' as TaskId;
const task = { id, no: 1 as TaskNo, headSeq: 7 as Seq } as Task;
const wanted = { id, artifacts: true };
const contentOf = (chars: number): TaskContent => ({
  history: [],
  artifacts: [{ parts: [{ kind: 'text', text: 'x'.repeat(chars) }] } as unknown as TaskContent['artifacts'][number]],
});
const large = contentOf(limits.largeTaskBytes);

function createReader(content: TaskContent) {
  const reads: SnapshotWant[] = [];
  const read = (want: SnapshotWant): Promise<Snapshot> => {
    reads.push(want);
    return Promise.resolve({ task, content: want.artifacts ? content : emptyContent });
  };
  return { reads, read };
}

test('a small task is shown as it was read', async () => {
  const { reads, read } = createReader(contentOf(10));
  const tasks = new LargeTasks({ contentAt: () => Promise.reject(new Error('nobody asks')) });
  expect(await tasks.find(wanted, read)).toEqual({ task, content: contentOf(10) });
  expect(reads).toEqual([{ artifacts: true }]);
  expect(await tasks.find(wanted, () => Promise.resolve(undefined))).toBeUndefined();
});

test('of one that was met as large the row is read alone, until it is large no more', async () => {
  let content = large;
  const tasks = new LargeTasks({ contentAt: () => Promise.resolve(content) });
  const { reads, read } = createReader(large);
  const first = await tasks.find(wanted, read);
  const second = await tasks.find(wanted, read);
  expect(reads).toEqual([{ artifacts: true }, { historyMax: 0, artifacts: false }]);
  if (first === undefined || 'content' in first || second === undefined || 'content' in second)
    throw new Error('it is large');
  expect(first.large.key).toBe(second.large.key);
  expect(await second.large.read()).toBe(large);
  expect(await tasks.find({ id, artifacts: false }, read)).toMatchObject({ content: emptyContent });
  content = contentOf(10);
  expect(await second.large.read()).toBe(content);
  await tasks.find(wanted, read);
  expect(reads.at(-1)).toEqual({ artifacts: true });
});

test('one that no answer could hold, or that is gone, is refused by name', async () => {
  const reading = async (contentAt: 'gone' | 'too-large') => {
    const shown = new LargeTasks({ contentAt: () => Promise.resolve(contentAt) }).show(
      { task, content: large },
      wanted,
    );
    return 'content' in shown ? shown.content : await shown.large.read();
  };
  await expect(reading('gone')).rejects.toMatchObject({ code: 'task_not_found' });
  await expect(reading('too-large')).rejects.toMatchObject({
    code: 'unsupported_operation',
    message: expect.stringContaining('GET /v1/tasks/{id}/events'),
  });
  const tasks = new LargeTasks({ contentAt: () => Promise.resolve('gone') });
  const text = 'x'.repeat(1024 * 1024);
  const parts = Array.from({ length: 129 }, () => ({ kind: 'text', text }));
  const huge = { history: [], artifacts: [{ parts }] } as unknown as TaskContent;
  expect(() => tasks.show({ task, content: huge }, wanted)).toThrow('128 MiB');
});

test('one that no answer could hold is read again once an answer could', async () => {
  const text = 'x'.repeat(1024 * 1024);
  const parts = Array.from({ length: 129 }, () => ({ kind: 'text', text }));
  const { read, reads } = createReader({ history: [], artifacts: [{ parts }] } as unknown as TaskContent);
  const contents = ['too-large', large] as const;
  let at = 0;
  const tasks = new LargeTasks({ contentAt: () => Promise.resolve(contents[at++] ?? 'gone') });
  await expect(tasks.find(wanted, read)).rejects.toMatchObject({ code: 'unsupported_operation' });
  const found = async () => {
    const shown = await tasks.find(wanted, read);
    return shown === undefined || 'content' in shown ? undefined : await shown.large.read();
  };
  await expect(found()).rejects.toMatchObject({ code: 'unsupported_operation' });
  expect(await found()).toBe(large);
  expect(reads.filter(({ artifacts }) => artifacts)).toHaveLength(1);
});
