import type { JsonObject } from '../base/json.ts';
import type { ArtifactId, RunNo, Seq, TurnNo } from './ids.ts';
import type { Part } from './message.ts';

/** What an artifact says of itself beside its parts; written when it is opened or replaced. */
export interface ArtifactHeader {
  readonly name?: string;
  readonly description?: string;
  readonly metadata?: JsonObject;
  readonly extensions?: readonly string[];
}

/** `output`: the agent made it. `input`: a raw part of a client's message; native lists show it, A2A's `Task.artifacts` never does. */
export type ArtifactOrigin = 'output' | 'input';

/** The row of an artifact; its content is the events from `baseSeq` on. */
export interface ArtifactEntry {
  readonly artifactId: ArtifactId;
  readonly origin: ArtifactOrigin;
  readonly turnNo: TurnNo;
  readonly runNo?: RunNo;
  readonly header: ArtifactHeader;
  /** The event that opened it or last replaced it. */
  readonly baseSeq: Seq;
  /** The event that carried `lastChunk`; absent while more may come. */
  readonly closedSeq?: Seq;
}

/** An artifact with its content (A2A 1.0 §4.1.7). */
export interface Artifact extends ArtifactEntry {
  readonly parts: readonly Part[];
}

/** The empty last part that closes an artifact whose last chunk was sent before; a fold drops it. */
export function isClosingPart(update: {
  readonly append: boolean;
  readonly lastChunk: boolean;
  readonly parts: readonly Part[];
}): boolean {
  const only = update.parts.length === 1 ? update.parts[0] : undefined;
  return update.append && update.lastChunk && only?.kind === 'text' && only.text === '';
}
