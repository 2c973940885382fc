import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Command, Option } from 'commander';
import type { Json } from '../base/json.ts';
import { essenceOf } from '../base/media-type.ts';
import type { Part } from '../model/message.ts';
import { usageError } from './cli-error.ts';
import type { Io } from './io.ts';

/** A part as the command line names it, in the order of the flags. */
export interface PartFlag {
  readonly kind: 'text' | 'file' | 'data';
  readonly value: string;
  readonly mediaType?: string;
}

/** Collects part flags in their order; `--media-type` belongs to the flag before it. */
export class PartFlags {
  readonly #list: PartFlag[] = [];

  get list(): readonly PartFlag[] {
    return this.#list;
  }

  add(kind: PartFlag['kind'], value: string): void {
    this.#list.push({ kind, value });
  }

  setMediaType(mediaType: string): void {
    const last = this.#list.pop();
    if (last === undefined || last.mediaType !== undefined) {
      throw usageError('--media-type belongs behind the --text, --file or --data that it describes.');
    }
    this.#list.push({ ...last, mediaType });
  }

  addOptions(command: Command): Command {
    const adds = (kind: PartFlag['kind']) => (value: string) => {
      this.add(kind, value);
      return value;
    };
    const alias = (flag: string, kind: PartFlag['kind']) => new Option(flag).argParser(adds(kind)).hideHelp();
    return command
      .option('--text <string>', 'a text part; part flags are repeatable and keep their order', adds('text'))
      .option('--file <path>', 'a file part: a local file is sent along, a URL is sent as a reference', adds('file'))
      .option('--data <path>', 'a data part: a JSON file, JSON itself, or - for stdin', adds('data'))
      .option('--media-type <type>', 'media type of the part before it', (value) => {
        this.setMediaType(value);
        return value;
      })
      .addOption(alias('--text-part <string>', 'text'))
      .addOption(alias('--file-part <path>', 'file'))
      .addOption(alias('--data-part <path>', 'data'));
  }
}

/** The parts of the message; `text` is the argument of `send`, which comes first. */
export async function readParts(
  io: Io,
  text: string | undefined,
  flags: readonly PartFlag[],
): Promise<readonly Part[]> {
  const first: readonly Part[] = text === undefined ? [] : [{ kind: 'text', text }];
  const rest = await Promise.all(flags.map((flag) => readPart(io, flag)));
  const parts = [...first, ...rest];
  if (parts.length === 0)
    throw usageError('There is nothing to send.', 'holdfast send "hello", or --text, --file, --data.');
  return parts;
}

async function readPart(io: Io, { kind, value, mediaType }: PartFlag): Promise<Part> {
  const type = mediaType === undefined ? {} : { mediaType };
  switch (kind) {
    case 'text':
      return { kind: 'text', text: value, ...type };
    case 'data':
      return { kind: 'data', data: await readData(io, value), ...type };
    case 'file':
      return await filePart(io, value, mediaType);
  }
}

async function filePart(io: Io, value: string, mediaType: string | undefined): Promise<Part> {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(value) && !value.startsWith('file:')) {
    const filename = path.posix.basename(new URL(value).pathname);
    const type = mediaType ?? mediaTypeOf(filename);
    return {
      kind: 'url',
      url: value,
      ...(filename === '' ? {} : { filename }),
      ...(type === undefined ? {} : { mediaType: type }),
    };
  }
  const file = path.resolve(io.cwd, value.startsWith('file:') ? new URL(value).pathname : value);
  const raw = await readFile(file).catch((error: unknown) => {
    throw usageError(`--file cannot be read: ${value} (${(error as { code?: string }).code ?? 'unknown'})`);
  });
  const filename = path.basename(file);
  return { kind: 'raw', raw, filename, mediaType: mediaType ?? mediaTypeOf(filename) ?? 'application/octet-stream' };
}

async function readData(io: Io, value: string): Promise<Json> {
  const isInline = /^\s*[[{"]/.test(value);
  const text = isInline
    ? value
    : value === '-'
      ? Buffer.from(await io.readStdin()).toString('utf8')
      : await readText(io, value);
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw usageError(`--data ${value === '-' ? 'from stdin' : isInline ? 'itself' : `from ${value}`} is not JSON.`);
  }
}

async function readText(io: Io, file: string): Promise<string> {
  return await readFile(path.resolve(io.cwd, file), 'utf8').catch((error: unknown) => {
    throw usageError(`--data cannot be read: ${file} (${(error as { code?: string }).code ?? 'unknown'})`);
  });
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.csv': 'text/csv',
  '.html': 'text/html',
  '.css': 'text/css',
  '.ts': 'text/plain',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.xml': 'application/xml',
  '.pdf': 'application/pdf',
  '.zip': 'application/zip',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
  '.mp4': 'video/mp4',
};

function mediaTypeOf(filename: string): string | undefined {
  return MEDIA_TYPES[path.extname(filename).toLowerCase()];
}

/** The ending of a file that holds this media type; the first one known. */
export function extensionOf(mediaType: string | undefined): string | undefined {
  const plain = mediaType === undefined ? undefined : essenceOf(mediaType);
  return Object.entries(MEDIA_TYPES).find(([, type]) => type === plain)?.[0];
}
