import type { Instant } from '../base/clock.ts';
import { type Artifact, isClosingPart } from './artifact.ts';
import type { ArtifactUpdated, NewEvent, StoredEvent } from './event.ts';
import type { Seq, TurnNo } from './ids.ts';
import type { Message } from './message.ts';
import { isTerminal, type Task, type TaskState } from './task.ts';

/**
 * What a list of events does to the task row. An adapter turns it into one UPDATE that sets only these
 * columns, relative to the head it finds, so no write carries a copy of what it did not change.
 */
export interface RowEffect {
  readonly eventCount: number;
  /** Status events among them; `generation` grows by it. */
  readonly statusCount: number;
  /** The last status: its state and its place among the events, counted from 1. */
  readonly status?: { readonly state: TaskState; readonly ordinal: number };
  readonly cancelBy?: string;
  /** The row keeps the larger of this and its own. */
  readonly turnNo?: TurnNo;
}

export function rowEffect(events: readonly NewEvent[]): RowEffect {
  let effect: RowEffect = { eventCount: events.length, statusCount: 0 };
  events.forEach((event, index) => {
    if (event.kind === 'status-changed') {
      effect = { ...effect, statusCount: effect.statusCount + 1, status: { state: event.state, ordinal: index + 1 } };
    } else if (event.kind === 'cancel-requested') effect = { ...effect, cancelBy: event.by };
    else if (event.kind === 'message-received') {
      effect = { ...effect, turnNo: Math.max(event.turnNo, effect.turnNo ?? 0) as TurnNo };
    }
  });
  return effect;
}

/** The task row after one event: what any adapter's row must equal. Pure; the store gave the event its place and time. */
export function foldTask(task: Task, event: StoredEvent): Task {
  const moved: Task = { ...task, headSeq: event.seq, headAt: event.at };
  switch (event.kind) {
    case 'status-changed':
      return foldStatus(moved, event.state, event.seq, event.at);
    case 'message-received':
      return { ...moved, turnNo: Math.max(event.turnNo, task.turnNo) as TurnNo };
    case 'cancel-requested':
      return { ...moved, cancelAt: event.at, cancelBy: event.by };
    default:
      return moved;
  }
}

function foldStatus(task: Task, state: TaskState, seq: Seq, at: Instant): Task {
  const next: Task = { ...task, state, statusSeq: seq, stateAt: at, generation: task.generation + 1 };
  return isTerminal(state) ? { ...next, endedAt: at } : next;
}

/** A task with its content, as doors show it: the row, the messages in order, the artifacts that were not discarded. */
export interface TaskContent {
  readonly statusMessage?: Message;
  /** How many messages of the whole history came before the status message: where it goes once it is superseded. */
  readonly statusPlace?: number;
  /** Users' messages and superseded status messages, in the order in which they were said. */
  readonly history: readonly Message[];
  readonly artifacts: readonly Artifact[];
}

export const emptyContent: TaskContent = { history: [], artifacts: [] };

/** The content after one event. A status message moves into the history when the next status supersedes it, so it is never shown twice. */
export function foldContent(content: TaskContent, event: StoredEvent): TaskContent {
  switch (event.kind) {
    case 'message-received':
      return { ...content, history: [...content.history, event.message] };
    case 'status-changed':
      return foldSpeech(content, event.message);
    case 'artifact-updated':
      return { ...content, artifacts: foldArtifact(content.artifacts, event) };
    case 'artifact-discarded':
      return {
        ...content,
        artifacts: content.artifacts.filter((artifact) => artifact.artifactId !== event.artifactId),
      };
    default:
      return content;
  }
}

function foldSpeech(content: TaskContent, message: Message | undefined): TaskContent {
  const { statusMessage, statusPlace, artifacts } = content;
  const history =
    statusMessage === undefined || statusPlace === undefined
      ? content.history
      : content.history.toSpliced(statusPlace, 0, statusMessage);
  return message === undefined
    ? { history, artifacts }
    : { history, artifacts, statusMessage: message, statusPlace: history.length };
}

function foldArtifact(
  artifacts: readonly Artifact[],
  event: ArtifactUpdated & { readonly seq: Seq },
): readonly Artifact[] {
  const index = artifacts.findIndex((artifact) => artifact.artifactId === event.artifactId);
  const known = artifacts[index];
  const parts = isClosingPart(event) ? [] : event.parts;
  const closed = event.lastChunk ? { closedSeq: event.seq } : {};
  if (known === undefined || !event.append) {
    const opened: Artifact = {
      artifactId: event.artifactId,
      origin: event.origin,
      turnNo: event.turnNo,
      ...(event.runNo === undefined ? {} : { runNo: event.runNo }),
      header: event.header ?? known?.header ?? {},
      baseSeq: event.seq,
      parts,
      ...closed,
    };
    return known === undefined ? [...artifacts, opened] : artifacts.with(index, opened);
  }
  return artifacts.with(index, { ...known, parts: [...known.parts, ...parts], ...closed });
}
