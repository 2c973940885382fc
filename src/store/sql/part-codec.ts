import type { Json, JsonObject } from '../../base/json.ts';
import type { BlobNo, ContextId, MessageId, TaskId } from '../../model/ids.ts';
import type { Message, Part, PartCommon, WithheldPart } from '../../model/message.ts';

/** A part as it is stored: the member that is present says its kind, as in A2A's own JSON. */
export interface StoredPart extends PartCommon {
  readonly text?: string;
  /** Base64. */
  readonly raw?: string;
  readonly blob?: number;
  readonly bytes?: number;
  readonly sha256?: string;
  readonly url?: string;
  readonly data?: Json;
  readonly withheld?: WithheldPart['of'];
}

/** A message as it is stored. Nobody's absent member is written. */
export interface StoredMessage {
  readonly id: string;
  readonly role: Message['role'];
  readonly parts: readonly StoredPart[];
  readonly context?: string;
  readonly task?: string;
  readonly references?: readonly string[];
  readonly extensions?: readonly string[];
  readonly metadata?: JsonObject;
}

export function storePart(part: Part): StoredPart {
  const common = commonOf(part);
  switch (part.kind) {
    case 'text':
      return { text: part.text, ...common };
    case 'raw':
      return { raw: base64Of(part.raw), ...common };
    case 'blob':
      return { blob: part.blobNo, bytes: part.bytes, sha256: part.sha256, ...common };
    case 'url':
      return { url: part.url, ...common };
    case 'data':
      return { data: part.data, ...common };
    case 'withheld':
      return { withheld: part.of, ...common };
  }
}

export function restorePart(stored: StoredPart): Part {
  const common = commonOf(stored);
  if (stored.text !== undefined) return { kind: 'text', text: stored.text, ...common };
  if (stored.raw !== undefined) return { kind: 'raw', raw: bytesOf(stored.raw), ...common };
  if (stored.url !== undefined) return { kind: 'url', url: stored.url, ...common };
  if (stored.withheld !== undefined) return { kind: 'withheld', of: stored.withheld, ...common };
  if (stored.blob !== undefined) {
    const { blob, bytes = 0, sha256 = '' } = stored;
    return { kind: 'blob', blobNo: blob as BlobNo, bytes, sha256, ...common };
  }
  return { kind: 'data', data: stored.data as Json, ...common };
}

export function storeMessage(message: Message): StoredMessage {
  return {
    id: message.messageId,
    role: message.role,
    parts: message.parts.map(storePart),
    ...(message.contextId === undefined ? {} : { context: message.contextId }),
    ...(message.taskId === undefined ? {} : { task: message.taskId }),
    ...(message.referenceTaskIds === undefined ? {} : { references: message.referenceTaskIds }),
    ...(message.extensions === undefined ? {} : { extensions: message.extensions }),
    ...(message.metadata === undefined ? {} : { metadata: message.metadata }),
  };
}

export function restoreMessage(stored: StoredMessage): Message {
  return {
    messageId: stored.id as MessageId,
    role: stored.role,
    parts: stored.parts.map(restorePart),
    ...(stored.context === undefined ? {} : { contextId: stored.context as ContextId }),
    ...(stored.task === undefined ? {} : { taskId: stored.task as TaskId }),
    ...(stored.references === undefined ? {} : { referenceTaskIds: stored.references }),
    ...(stored.extensions === undefined ? {} : { extensions: stored.extensions }),
    ...(stored.metadata === undefined ? {} : { metadata: stored.metadata }),
  };
}

const nothing: PartCommon = {};

function commonOf(part: PartCommon): PartCommon {
  const { mediaType, filename, metadata } = part;
  if (mediaType === undefined && filename === undefined && metadata === undefined) return nothing;
  return {
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(filename === undefined ? {} : { filename }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** A copy with a buffer of its own: a slice of Node's pool would keep strangers' bytes in reach. */
function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(Buffer.from(base64, 'base64'));
}
