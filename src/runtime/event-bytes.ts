import type { StoredEvent } from '../model/event.ts';
import type { Part } from '../model/message.ts';

/** What an event without content takes: its header and its place. */
const EVENT_BYTES = 128;
const PART_BYTES = 32;

/** About how many bytes of memory an event holds; for bounds, not for bills. */
export function eventBytes(event: StoredEvent): number {
  switch (event.kind) {
    case 'artifact-updated':
      return EVENT_BYTES + partsBytes(event.parts);
    case 'message-received':
      return EVENT_BYTES + partsBytes(event.message.parts);
    case 'status-changed':
      return EVENT_BYTES + (event.message === undefined ? 0 : partsBytes(event.message.parts));
    default:
      return EVENT_BYTES;
  }
}

/** About how many bytes an event takes in an answer, where its files stand too. */
export function answerBytes(event: StoredEvent): number {
  return eventBytes(event) + filesBytes(partsOf(event));
}

/** The bytes of files that parts only name. */
export function filesBytes(parts: readonly Part[]): number {
  return parts.reduce((bytes, part) => bytes + (part.kind === 'blob' ? part.bytes : 0), 0);
}

function partsOf(event: StoredEvent): readonly Part[] {
  if (event.kind === 'artifact-updated') return event.parts;
  return event.kind === 'message-received' || event.kind === 'status-changed' ? (event.message?.parts ?? []) : [];
}

export function partsBytes(parts: readonly Part[]): number {
  let bytes = 0;
  for (const part of parts) bytes += PART_BYTES + contentBytes(part);
  return bytes;
}

function contentBytes(part: Part): number {
  switch (part.kind) {
    case 'text':
      return part.text.length;
    case 'raw':
      return part.raw.length;
    case 'data':
      return JSON.stringify(part.data).length;
    case 'url':
      return part.url.length;
    default:
      return 0;
  }
}
