import { isSettled } from '../client/agent-client.ts';
import type { Frame } from '../client/transport.ts';
import { decodeStreamResponse, type RemoteStatus, type StreamItem } from '../protocol/v1/client-codec.ts';
import type { Reporter } from './reporter.ts';

/** Reports the events of a stream as they arrive; the last one as text restates the ids and the state. */
export async function followFrames(
  frames: AsyncIterable<Frame>,
  reporter: Reporter,
  onTask: (taskId: string) => void,
): Promise<void> {
  let place: { taskId: string; contextId: string } | undefined;
  let status: RemoteStatus = { state: 'unspecified' };
  let isRestated = false;
  const names = new ArtifactNames();
  for await (const { json } of frames) {
    const item = decodeStreamResponse(json);
    reporter.event(json, names.complete(item));
    isRestated = item.kind === 'task' || item.kind === 'message';
    if (item.kind === 'task') {
      place = { taskId: item.task.id, contextId: item.task.contextId };
      status = item.task.status;
    } else if (item.kind === 'status') {
      place ??= { taskId: item.taskId, contextId: item.contextId };
      status = item.status;
    }
    if (place !== undefined) onTask(place.taskId);
  }
  if (place === undefined) return;
  if (!isRestated) reporter.restate({ ...place, state: status.state });
  if (isSettled(status.state)) reporter.warnOfOutcome(status);
}

/** Only the first chunk of an artifact says its name; a reader of the fifth wants to know it too. */
class ArtifactNames {
  readonly #names = new Map<string, string>();

  complete(item: StreamItem): StreamItem {
    if (item.kind === 'task') for (const artifact of item.task.artifacts) this.#learn(artifact);
    if (item.kind !== 'artifact') return item;
    this.#learn(item.artifact);
    const name = this.#names.get(item.artifact.artifactId);
    return name === undefined ? item : { ...item, artifact: { ...item.artifact, name } };
  }

  #learn({ artifactId, name }: { readonly artifactId: string; readonly name?: string }): void {
    if (name !== undefined) this.#names.set(artifactId, name);
  }
}
