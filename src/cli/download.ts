import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Part } from '../model/message.ts';
import { decodeTask, type RemoteArtifact } from '../protocol/v1/client-codec.ts';
import { openAgent } from './agent-session.ts';
import { CliError, usageError } from './cli-error.ts';
import type { Io } from './io.ts';
import { field } from './render-text.ts';
import { Reporter } from './reporter.ts';
import { extensionOf } from './send-parts.ts';
import type { TaskOrder } from './task-commands.ts';

/** `task download`: writes what the task's artifacts hold into a folder; what they only refer to is named, not fetched. */
export async function download(io: Io, { options, flags, taskId }: TaskOrder): Promise<void> {
  const agent = await openAgent(io, options);
  const json = await agent.client.call('GetTask', { id: taskId, historyLength: 0 }, agent.signal);
  const wanted = flags.artifact === undefined ? undefined : String(flags.artifact);
  const artifacts = decodeTask(json).artifacts.filter(
    ({ artifactId, name }) => wanted === undefined || wanted === artifactId || wanted === name,
  );
  if (wanted !== undefined && artifacts.length === 0) throw usageError(`Task ${taskId} has no artifact "${wanted}".`);
  const folder = path.resolve(io.cwd, typeof flags.dir === 'string' ? flags.dir : '.');
  await mkdir(folder, { recursive: true });
  const lines: string[] = [];
  for (const file of filesOf(artifacts)) {
    lines.push(
      file.bytes === undefined ? field('Not fetched', file.name) : await save(folder, file, flags.force === true),
    );
  }
  if (lines.length === 0) lines.push(field('Saved', 'nothing: the task has no artifacts'));
  const reporter = new Reporter(io, options);
  reporter.document(json, () => lines.join(''));
  if (reporter.isJson) io.err(lines.join(''));
}

interface Outgoing {
  readonly name: string;
  /** Absent for what is only a reference. */
  readonly bytes?: Uint8Array;
}

/** One file a part; the texts of an artifact that are its chunks are one file. */
export function filesOf(artifacts: readonly RemoteArtifact[]): readonly Outgoing[] {
  const taken = new Set<string>();
  return artifacts.flatMap((artifact) =>
    pieces(artifact.parts).map(({ part, bytes }, index) => {
      if (part.kind === 'url') return { name: part.url };
      const stem = safeName(part.filename ?? artifact.name ?? artifact.artifactId);
      const name = uniqueName(withExtension(stem, part, index), taken);
      return { name, bytes };
    }),
  );
}

function pieces(parts: readonly Part[]): readonly { readonly part: Part; readonly bytes: Uint8Array }[] {
  const found: { part: Part; bytes: Uint8Array }[] = [];
  for (const part of parts) {
    const last = found.at(-1);
    if (part.kind === 'text' && last?.part.kind === 'text' && last.part.filename === part.filename) {
      last.bytes = Buffer.concat([last.bytes, Buffer.from(part.text)]);
    } else found.push({ part, bytes: bytesOf(part) });
  }
  return found;
}

function bytesOf(part: Part): Uint8Array {
  switch (part.kind) {
    case 'text':
      return Buffer.from(part.text);
    case 'raw':
      return part.raw;
    case 'data':
      return Buffer.from(`${JSON.stringify(part.data, null, 2)}\n`);
    default:
      return new Uint8Array(0);
  }
}

/** A name of the agent's choosing may not leave the folder, hide itself, or be a path at all. */
function safeName(name: string): string {
  const base = name.split(/[/\\]/).at(-1) ?? '';
  const clean = base
    .replace(/[\p{Cc}<>:"|?*]/gu, '_')
    .replace(/^\.+/, '')
    .slice(0, 200);
  return clean === '' ? 'artifact' : clean;
}

function withExtension(stem: string, part: Part, index: number): string {
  if (/\.[A-Za-z0-9]{1,8}$/.test(stem)) return stem;
  const usual = part.kind === 'data' ? '.json' : part.kind === 'text' ? '.txt' : '.bin';
  return `${stem}${index === 0 ? '' : `-${index + 1}`}${extensionOf(part.mediaType) ?? usual}`;
}

function uniqueName(name: string, taken: Set<string>): string {
  const { name: stem, ext } = path.parse(name);
  let unique = name;
  for (let count = 2; taken.has(unique.toLowerCase()); count += 1) unique = `${stem}-${count}${ext}`;
  taken.add(unique.toLowerCase());
  return unique;
}

async function save(folder: string, { name, bytes }: Outgoing, force: boolean): Promise<string> {
  const file = path.join(folder, name);
  try {
    await writeFile(file, bytes ?? '', { flag: force ? 'w' : 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new CliError('A2ACLI_ERR_INTERNAL', `${file} is there already.`, {
      hint: 'Use --force to write over it, or --dir for another folder.',
    });
  }
  return field('Saved', `${file} (${bytes?.length ?? 0} bytes)`);
}
