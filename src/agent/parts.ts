import { jsonCopy } from '../base/json.ts';
import type { BlobPart, Part, PartCommon } from '../model/message.ts';
import { AgentCodeError } from './errors.ts';

/** Whether the task holds these bytes, so that its agent may say them again. */
type HasBlob = (blob: BlobPart) => boolean;

/**
 * An author's parts as the log takes them. They are copies, as JSON would give them back: who writes the next chunk into
 * the same buffer or object does not change what was said before, and every reader is told what the log keeps.
 *
 * Refused is what nobody could read back: parts come from authors' code, and types bind no JavaScript and no cast. One
 * bad part that is stored would make its whole task unreadable for ever. Refused are also bytes of another task, which
 * a caller's JSON could name where an author takes it for parts.
 */
export function ownParts(given: readonly Part[], where: string, hasBlob: HasBlob = () => false): readonly Part[] {
  return Array.from(given, (part, index) => {
    const own = ownPart(part, hasBlob);
    if (typeof own !== 'string') return own;
    throw new AgentCodeError('output', `${where} was given a part that is none: [${index}] ${own}.`);
  });
}

/** The part, or what is wrong with it. */
function ownPart(part: unknown, hasBlob: HasBlob): Part | string {
  if (typeof part !== 'object' || part === null) return 'is no object';
  const content = ownContent(part as Readonly<Record<string, unknown>>, hasBlob);
  return typeof content === 'string' ? content : { ...content, ...ownCommon(part) };
}

function ownContent(part: Readonly<Record<string, unknown>>, hasBlob: HasBlob): Part | string {
  const { kind, text, raw, url } = part;
  switch (kind) {
    case 'text':
      return typeof text === 'string' ? { kind, text } : 'has a "text" that is no text';
    case 'raw':
      return raw instanceof Uint8Array ? { kind, raw: new Uint8Array(raw) } : 'has a "raw" that is no Uint8Array';
    case 'url':
      return typeof url === 'string' ? { kind, url } : 'has a "url" that is no text';
    case 'data': {
      const data = jsonCopy(part.data);
      return data === undefined ? 'has a "data" that is no JSON' : { kind, data };
    }
    case 'blob': {
      const { blobNo, bytes, sha256 } = part as unknown as BlobPart;
      const blob: BlobPart = { kind, blobNo, bytes, sha256 };
      return hasBlob(blob) ? blob : 'names bytes that its task does not hold';
    }
    case 'withheld':
      return { kind, of: part.of as 'text' };
    default:
      return 'has no "kind" of text, raw, url and data';
  }
}

function ownCommon({ mediaType, filename, metadata }: PartCommon): PartCommon {
  const copied = jsonCopy(metadata);
  return {
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(filename === undefined ? {} : { filename }),
    ...(copied === undefined ? {} : { metadata: copied as NonNullable<PartCommon['metadata']> }),
  };
}
