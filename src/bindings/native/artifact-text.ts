import { CodedError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import type { Artifact, ArtifactEntry } from '../../model/artifact.ts';
import type { TaskId } from '../../model/ids.ts';
import type { Part } from '../../model/message.ts';
import { type BlobPlace, splitAtBlobs } from '../../protocol/v1/blob-marks.ts';
import { encodeArtifact } from '../../protocol/v1/encode.ts';
import type { TextSource } from '../held-texts.ts';
import { nativeArtifact } from './encode.ts';

/** An artifact that was read, and how to read it once more. */
export interface ArtifactRead {
  readonly taskId: TaskId;
  readonly artifact: Artifact;
  read(): Promise<Artifact>;
}

/** Which artifact it is, as it stands now: chunks that come later are not of it. It holds no content. */
interface Standing {
  readonly taskId: TaskId;
  readonly entry: ArtifactEntry;
  readonly partCount: number;
  readonly bytes: number;
  read(): Promise<Artifact>;
}

/** The native artifact as JSON. */
export function artifactJson(artifact: Artifact): ReturnType<typeof nativeArtifact> {
  return { ...nativeArtifact(artifact), ...encodeArtifact(artifact) };
}

/** Whether it is too much text for each reader to have in hand. */
export function isLargeText({ parts }: Artifact): boolean {
  return textChars(parts) > limits.largeTaskBytes;
}

/** The JSON of a large artifact, for all who read it. */
export function jsonSource(given: ArtifactRead): TextSource {
  return sourceOf(standingOf(given), 'json', (artifact) => splitAtBlobs(JSON.stringify(artifactJson(artifact))));
}

/** The text of a large artifact that is text alone, for all who read it. What it says is no JSON, and names no blob. */
export function textSource(given: ArtifactRead): TextSource {
  return sourceOf(standingOf(given), 'text', ({ parts }) => [
    // Each chunk as bytes of its own, as its length was told.
    parts.map((part) => (part.kind === 'text' ? part.text.toWellFormed() : '')).join(''),
  ]);
}

function standingOf({ taskId, artifact, read }: ArtifactRead): Standing {
  const { parts, ...entry } = artifact;
  return { taskId, entry, partCount: parts.length, bytes: textChars(parts), read };
}

function sourceOf(
  standing: Standing,
  form: string,
  write: (artifact: Artifact) => readonly (string | BlobPlace)[],
): TextSource {
  const { taskId, entry, partCount, bytes } = standing;
  const { artifactId, baseSeq, closedSeq } = entry;
  return {
    key: JSON.stringify([form, taskId, artifactId, baseSeq, closedSeq ?? 0, partCount]),
    bytes,
    write: async () => {
      const { baseSeq: baseNow, parts } = await standing.read();
      if (baseNow !== baseSeq) throw replaced(standing);
      return write({ ...entry, parts: parts.slice(0, partCount) });
    },
  };
}

function textChars(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + (part.kind === 'text' ? part.text.length : 0), 0);
}

function replaced({ taskId, entry }: Standing): CodedError {
  return new CodedError('unavailable', {
    message: 'The artifact was replaced while it was read. Read it again.',
    metadata: { taskId, artifactId: entry.artifactId },
  });
}
