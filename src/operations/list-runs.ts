import type { TaskId } from '../model/ids.ts';
import type { Run } from '../model/run.ts';
import type { Task } from '../model/task.ts';
import type { Turn } from '../model/turn.ts';
import { findTask, rowsOf } from './find-task.ts';
import type { Verb } from './verb.ts';

/** Every run and every turn of a task, in order. */
export const listRuns: Verb<
  { readonly id: TaskId },
  { readonly task: Task; readonly runs: readonly Run[]; readonly turns: readonly Turn[] }
> = {
  async run(parts, call, { id }) {
    const store = rowsOf(parts, call);
    const [{ task }, runs, turns] = await Promise.all([
      findTask(parts, call, id),
      store.listRuns(id),
      store.listTurns(id),
    ]);
    return { task, runs: runs ?? [], turns: turns ?? [] };
  },
};
