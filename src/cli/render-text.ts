import { formatInstant } from '../base/clock.ts';
import type { Message, Part } from '../model/message.ts';
import { isInterrupted } from '../model/task.ts';
import type { RemoteArtifact, RemoteStatus, RemoteTask, StreamItem } from '../protocol/v1/client-codec.ts';

/*
 * The text format: one `Label: value` a line, and blocks, whose label has a line of its own and which end at an empty
 * line (a2a-cli specification §11.2). What an agent wrote may hold anything, so terminal control sequences are taken out
 * of it, and its own empty lines hold a space, so that no reader takes one for the end of a block.
 */

/** Control characters that a terminal would obey. */
const CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/gu;

function plain(text: string): string {
  return text.replace(CONTROL, (char) => (char === '\n' || char === '\t' ? char : ''));
}

export function field(label: string, value: string): string {
  return `${label}: ${plain(value).replace(/\s*\n\s*/g, ' ')}\n`;
}

export function block(label: string, content: string): string {
  const lines = plain(content.replace(/\r\n?/g, '\n')).replace(/\n+$/, '').split('\n');
  return `${label}:\n${lines.map((line) => (line === '' ? ' ' : line)).join('\n')}\n\n`;
}

export interface TextStyle {
  readonly verbose: boolean;
  /** The command that answers this task; what it is asked stands in the message. */
  readonly resume: (taskId: string, question: Message | undefined) => string;
}

export function stateWord(state: RemoteStatus['state']): string {
  return state.toUpperCase().replaceAll('-', '_');
}

/** Where a task stands: the three fields that every command on a task says. */
export function renderPlace(place: {
  readonly taskId: string;
  readonly contextId: string;
  readonly state: RemoteStatus['state'];
}): string {
  return field('Task ID', place.taskId) + field('Context ID', place.contextId) + field('State', stateWord(place.state));
}

export function renderTask(task: RemoteTask, style: TextStyle): string {
  const { state, message, at } = task.status;
  return [
    renderPlace({ taskId: task.id, contextId: task.contextId, state }),
    style.verbose && at !== undefined ? field('Updated', formatInstant(at)) : '',
    message === undefined ? '' : renderWords(message),
    ...(style.verbose ? task.history.map(renderHistory) : []),
    ...task.artifacts.map((artifact) => renderArtifact(artifact, style)),
    renderResume(task.id, task.status, style),
  ].join('');
}

function renderResume(taskId: string, { state, message }: RemoteStatus, style: TextStyle): string {
  return state !== 'unspecified' && isInterrupted(state) ? field('Resume', style.resume(taskId, message)) : '';
}

const LINE_WORDS_MAX = 60;

/** A task as one line of a list: its ids, where it stands since when, and the first of its words. */
export function renderTaskLine({ id, contextId, status }: RemoteTask): string {
  const words = status.message?.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join(' ') ?? '';
  const short = plain(words).replace(/\s+/g, ' ').trim();
  const cut = [...short].length > LINE_WORDS_MAX ? `${[...short].slice(0, LINE_WORDS_MAX - 1).join('')}…` : short;
  const facts = [
    id,
    stateWord(status.state),
    status.at === undefined ? '' : formatInstant(status.at),
    `context ${contextId}`,
  ];
  return field('Task', [...facts, cut].filter((fact) => fact !== '').join('  '));
}

/** The agent's words in a status: one line as a field, more as a block, and data for programs only where it is asked for. */
function renderWords(message: Message): string {
  const text = message.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n');
  const words = text === '' ? '' : text.includes('\n') ? block('Message', text) : field('Message', text);
  return (
    words +
    message.parts
      .filter((part) => part.kind !== 'text')
      .map(renderPart)
      .join('')
  );
}

function renderHistory(message: Message): string {
  return field('History', `${message.role} ${message.messageId}`) + message.parts.map(renderPart).join('');
}

/** A direct reply. */
export function renderMessage(message: Message, style: TextStyle): string {
  return [
    message.contextId === undefined ? '' : field('Context ID', message.contextId),
    style.verbose ? field('Message ID', message.messageId) : '',
    ...message.parts.map(renderPart),
  ].join('');
}

function renderArtifact(artifact: RemoteArtifact, style: TextStyle): string {
  const { artifactId, name, description } = artifact;
  return [
    field('Artifact', name === undefined ? artifactId : `${name} (${artifactId})`),
    style.verbose && description !== undefined ? field('Description', description) : '',
    ...(style.verbose ? artifact.parts : joinTexts(artifact.parts)).map(renderPart),
  ].join('');
}

/** Chunks of one text read as one. */
function joinTexts(parts: readonly Part[]): readonly Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.kind === 'text' && last?.kind === 'text' && last.mediaType === part.mediaType) {
      joined[joined.length - 1] = { ...last, text: last.text + part.text };
    } else joined.push(part);
  }
  return joined;
}

export function renderPart(part: Part): string {
  switch (part.kind) {
    case 'text':
      return block('Text', part.text);
    case 'data':
      return block('Data', JSON.stringify(part.data, null, 2));
    case 'url':
      return field('File', [part.filename, part.mediaType, part.url].filter((item) => item !== undefined).join(', '));
    case 'raw':
      return renderFile(part, part.raw.length);
    case 'blob':
      return renderFile(part, part.bytes);
    case 'withheld':
      return field('Withheld', part.of);
  }
}

function renderFile(part: { readonly filename?: string; readonly mediaType?: string }, bytes: number): string {
  return field(
    'File',
    `${part.filename ?? 'unnamed'}, ${part.mediaType ?? 'application/octet-stream'}, ${bytes} bytes`,
  );
}

/** One event of a stream, as it arrives. */
export function renderStreamItem(item: StreamItem, style: TextStyle): string {
  switch (item.kind) {
    case 'task':
      return renderTask(item.task, style);
    case 'message':
      return renderMessage(item.message, style);
    case 'status': {
      const { state, message } = item.status;
      return [
        field('State', stateWord(state)),
        message === undefined ? '' : renderWords(message),
        renderResume(item.taskId, item.status, style),
      ].join('');
    }
    case 'artifact':
      return item.lastChunk && isEmptyChunk(item.artifact) ? '' : renderArtifact(item.artifact, style);
    case 'unknown':
      return '';
  }
}

/** The chunk that only says that an artifact is whole. */
function isEmptyChunk(artifact: RemoteArtifact): boolean {
  return artifact.parts.every((part) => part.kind === 'text' && part.text === '');
}
