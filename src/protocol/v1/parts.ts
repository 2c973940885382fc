import type { Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import type { Part, PartCommon } from '../../model/message.ts';
import { blobMark } from './blob-marks.ts';
import type { ObjectReader } from './read.ts';

/** The members of the oneof `Part.content`. */
const CONTENT_NAMES = ['text', 'raw', 'url', 'data'] as const;
type ContentName = (typeof CONTENT_NAMES)[number];

/** What stands in for a part after a problem was noted; it never leaves the decoder. */
const STAND_IN: Part = { kind: 'text', text: '' };

/** The parts under `parts`: at least one, at most `partsMax`, each with exactly one content. Notes what is wrong. */
export function decodeParts(reader: ObjectReader): readonly Part[] {
  return reader.objects('parts', { min: 1, max: limits.partsMax }).map(decodePart);
}

function decodePart(reader: ObjectReader): Part {
  const content = contentName(reader);
  const part = content === undefined ? undefined : decodeContent(reader, content);
  return part === undefined ? STAND_IN : withCommon(part, reader);
}

function contentName(reader: ObjectReader): ContentName | undefined {
  let found: ContentName | undefined;
  for (const name of CONTENT_NAMES) {
    if (!(name === 'data' ? reader.hasOrNull(name) : reader.has(name))) continue;
    if (found !== undefined) {
      reader.problemHere(`must have one of text, raw, url, data, not ${found} and ${name}`);
      return undefined;
    }
    found = name;
  }
  if (found === undefined) reader.problemHere(missingContent(reader));
  return found;
}

/** A2A 0.3 tagged its parts and put a file into an object of its own; those who still do are told what to write. */
function missingContent(reader: ObjectReader): string {
  const legacy = reader.has('kind') || reader.has('file');
  return legacy
    ? 'has none of text, raw, url, data; "kind" and "file" are of A2A 0.3: write raw (base64) or url, with filename and mediaType'
    : 'has none of text, raw, url, data';
}

function decodeContent(reader: ObjectReader, name: ContentName): Part | undefined {
  if (name === 'data') {
    const data = reader.value('data');
    return data === undefined ? undefined : { kind: 'data', data };
  }
  if (name === 'raw') {
    const raw = reader.bytes('raw', limits.partBytesMax);
    return raw === undefined ? undefined : { kind: 'raw', raw };
  }
  const text = reader.text(name);
  if (text === undefined) return undefined;
  if (name === 'text') return { kind: 'text', text };
  if (text === '') reader.problem('url', 'must not be empty');
  return { kind: 'url', url: text };
}

function withCommon(part: Part, reader: ObjectReader): Part {
  const mediaType = reader.string('mediaType');
  const filename = reader.string('filename');
  const metadata = reader.struct('metadata');
  if (mediaType === undefined && filename === undefined && metadata === undefined) return part;
  return {
    ...part,
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(filename === undefined ? {} : { filename }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** A part as it is written: one content, then what it carries beside it. Where a blob's bytes go stands a mark (`blob-marks.ts`). */
export function encodePart(part: Part): Json {
  return { ...encodeContent(part), ...encodeCommon(part) };
}

function encodeContent(part: Part): { readonly [key: string]: Json } {
  switch (part.kind) {
    case 'text':
      return { text: part.text };
    case 'raw':
      return { raw: encodeBase64(part.raw) };
    case 'url':
      return { url: part.url };
    case 'data':
      return { data: part.data };
    case 'withheld':
      return { data: { withheld: part.of } };
    case 'blob':
      return { raw: blobMark(part) };
  }
}

function encodeCommon(part: PartCommon): { readonly [key: string]: Json } {
  return {
    ...(part.metadata === undefined ? {} : { metadata: part.metadata }),
    ...(part.filename === undefined ? {} : { filename: part.filename }),
    ...(part.mediaType === undefined ? {} : { mediaType: part.mediaType }),
  };
}

/** Standard alphabet, with padding: what ProtoJSON writes. */
export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

/** Parts of a message or an artifact. The protocol wants at least one, so none are written as one empty text. */
export function encodeParts(parts: readonly Part[]): Json {
  return parts.length === 0 ? [{ text: '' }] : parts.map(encodePart);
}
