import { CodedError } from '../base/errors.ts';
import type { Artifact } from '../model/artifact.ts';
import type { ArtifactId, TaskId } from '../model/ids.ts';
import { findTask, rowsOf } from './find-task.ts';
import type { Verb } from './verb.ts';

/** One artifact with its content, blobs as names. Throws `task_not_found` before `artifact_not_found`. */
export const readArtifact: Verb<{ readonly id: TaskId; readonly artifactId: string }, Artifact> = {
  async run(parts, call, { id, artifactId }) {
    const found = await rowsOf(parts, call).readArtifact(id, artifactId as ArtifactId);
    if (found === undefined) {
      await findTask(parts, call, id);
      throw new CodedError('artifact_not_found', {
        message: 'This task has no artifact with that id. List them with GET /v1/tasks/{id}/artifacts.',
        metadata: { taskId: id, artifactId },
      });
    }
    return found;
  },
};
