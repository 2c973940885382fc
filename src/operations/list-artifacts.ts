import type { ArtifactEntry } from '../model/artifact.ts';
import type { TaskId } from '../model/ids.ts';
import { taskNotFound } from '../runtime/task-answers.ts';
import { rowsOf } from './find-task.ts';
import type { Verb } from './verb.ts';

/** The task's artifacts without content: those of the agent, and the raw parts that clients sent. */
export const listArtifacts: Verb<{ readonly id: TaskId }, readonly ArtifactEntry[]> = {
  async run(parts, call, { id }) {
    const artifacts = await rowsOf(parts, call).listArtifacts(id);
    if (artifacts === undefined) throw taskNotFound(id);
    return artifacts;
  },
};
