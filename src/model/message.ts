import type { Json, JsonObject } from '../base/json.ts';
import type { BlobNo, ContextId, MessageId, TaskId } from './ids.ts';

/** What every kind of part may carry (A2A 1.0 §4.1.6). */
export interface PartCommon {
  readonly mediaType?: string;
  readonly filename?: string;
  readonly metadata?: JsonObject;
}

export interface TextPart extends PartCommon {
  readonly kind: 'text';
  readonly text: string;
}
/** Bytes in hand: at the doors and in a handler. */
export interface RawPart extends PartCommon {
  readonly kind: 'raw';
  readonly raw: Uint8Array;
}
/** Bytes in the store, staged before the event that names them; `runtime/blobs.ts` turns it into a RawPart. */
export interface BlobPart extends PartCommon {
  readonly kind: 'blob';
  readonly blobNo: BlobNo;
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}
interface UrlPart extends PartCommon {
  readonly kind: 'url';
  readonly url: string;
}
interface DataPart extends PartCommon {
  readonly kind: 'data';
  readonly data: Json;
}
/** What is left of a part of an agent that keeps no content. */
export interface WithheldPart extends PartCommon {
  readonly kind: 'withheld';
  readonly of: 'text' | 'raw' | 'url' | 'data';
}

/** The smallest content of a message or an artifact. */
export type Part = TextPart | RawPart | BlobPart | UrlPart | DataPart | WithheldPart;

export type Role = 'user' | 'agent';

/** One utterance of client or agent (A2A 1.0 §4.1.4). `taskId` and `contextId` are what its author wrote, or what the server filled in. */
export interface Message {
  readonly messageId: MessageId;
  readonly role: Role;
  readonly parts: readonly Part[];
  readonly contextId?: ContextId;
  readonly taskId?: TaskId;
  readonly referenceTaskIds?: readonly string[];
  readonly extensions?: readonly string[];
  readonly metadata?: JsonObject;
}

/** The text parts, joined by line breaks: what `turn.text` is. */
export function textOf(parts: readonly Part[]): string {
  let joined: string | undefined;
  for (const part of parts) {
    if (part.kind === 'text') joined = joined === undefined ? part.text : `${joined}\n${part.text}`;
  }
  return joined ?? '';
}
