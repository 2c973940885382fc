import type { ArtifactUpdated } from '../model/event.ts';
import type { ArtifactId, MessageId, TaskId, TurnNo } from '../model/ids.ts';
import type { Part } from '../model/message.ts';
import { uuidOf } from './content-digest.ts';

/**
 * The files of a message as input artifacts: one for each raw part, under an id that the same message gives again.
 * Native lists show them; A2A's `Task.artifacts` never does.
 */
export function inputArtifacts(message: {
  readonly messageId: MessageId;
  readonly taskId: TaskId;
  readonly parts: readonly Part[];
  readonly turnNo: TurnNo;
}): readonly ArtifactUpdated[] {
  return message.parts.flatMap((part, index): readonly ArtifactUpdated[] => {
    if (part.kind !== 'raw' && part.kind !== 'blob') return [];
    return [
      {
        kind: 'artifact-updated',
        artifactId: uuidOf([message.messageId, index, message.taskId]) as ArtifactId,
        origin: 'input',
        turnNo: message.turnNo,
        header: part.filename === undefined ? {} : { name: part.filename },
        parts: [part],
        append: false,
        lastChunk: true,
      },
    ];
  });
}
