import { unreachable } from '../../base/assert.ts';
import { type Instant, instant } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ArtifactHeader } from '../../model/artifact.ts';
import {
  type ArtifactUpdated,
  AUDIENCE_NUMBERS,
  type Audience,
  audienceOf,
  EVENT_KIND_NUMBERS,
  type EventKind,
  type NewEvent,
  type StoredEvent,
} from '../../model/event.ts';
import type { ArtifactId, MessageId, RunId, RunNo, Seq, TurnNo } from '../../model/ids.ts';
import type { RunOutcome } from '../../model/run.ts';
import type { TaskState } from '../../model/task.ts';
import {
  restoreMessage,
  restorePart,
  type StoredMessage,
  type StoredPart,
  storeMessage,
  storePart,
} from './part-codec.ts';

/** The columns of an event that follow from the event alone. */
export interface EventColumns {
  readonly kind: number;
  readonly audience: number;
  readonly artifactId: string | null;
  readonly runNo: number | null;
  /** JSON of what no column holds. It escapes U+0000 and lone surrogates, so any text column keeps it whole. */
  readonly payload: string;
}

/** The columns that an event is read back from. */
export interface EventRow {
  readonly seq: number;
  readonly kind: number;
  readonly artifact_id: string | null;
  readonly run_no: number | null;
  readonly at: number;
  readonly payload: string;
}

const KINDS = new Map<number, EventKind>(
  Object.entries(EVENT_KIND_NUMBERS).map(([kind, number]) => [number, kind as EventKind]),
);
const AUDIENCES = AUDIENCE_NUMBERS satisfies Record<Audience, number>;

/** Event to columns. */
export function encodeEvent(event: NewEvent): EventColumns {
  const isOfArtifact = event.kind === 'artifact-updated' || event.kind === 'artifact-discarded';
  return {
    kind: EVENT_KIND_NUMBERS[event.kind],
    audience: AUDIENCES[audienceOf(event)],
    artifactId: isOfArtifact ? event.artifactId : null,
    runNo: isOfArtifact ? (event.runNo ?? null) : null,
    payload: JSON.stringify(payloadOf(event)),
  };
}

/** Columns to event: what `encodeEvent` was given, with its place and time; `unknown` for a kind that a newer version wrote. */
export function decodeEvent(row: EventRow): StoredEvent {
  const kind = KINDS.get(row.kind);
  const event = kind === undefined ? ({ kind: 'unknown' } as const) : eventOf(kind, row);
  return { ...event, seq: row.seq as Seq, at: instant(row.at) };
}

interface StoredChunk {
  readonly origin?: 'input';
  readonly turn: number;
  readonly header?: ArtifactHeader;
  readonly parts: readonly StoredPart[];
  readonly append?: true;
  readonly last?: true;
}

function storeChunk(event: ArtifactUpdated): StoredChunk {
  return {
    turn: event.turnNo,
    parts: event.parts.map(storePart),
    ...(event.origin === 'input' ? { origin: 'input' } : {}),
    ...(event.header === undefined ? {} : { header: event.header }),
    ...(event.append ? { append: true } : {}),
    ...(event.lastChunk ? { last: true } : {}),
  };
}

function restoreChunk(stored: StoredChunk, row: EventRow): ArtifactUpdated {
  return {
    kind: 'artifact-updated',
    artifactId: row.artifact_id as ArtifactId,
    origin: stored.origin ?? 'output',
    turnNo: stored.turn as TurnNo,
    ...(row.run_no === null ? {} : { runNo: row.run_no as RunNo }),
    ...(stored.header === undefined ? {} : { header: stored.header }),
    parts: stored.parts.map(restorePart),
    append: stored.append === true,
    lastChunk: stored.last === true,
  };
}

/** Members of events other than artifacts' as they are stored. */
interface StoredMembers {
  readonly message?: StoredMessage;
  readonly state?: TaskState;
  readonly errorId?: string;
  readonly by?: string;
  readonly runId?: string;
  readonly turn?: number;
  readonly attempt?: number;
  readonly workerId?: string;
  readonly outcome?: RunOutcome;
  readonly reason?: string;
  readonly askId?: string;
  readonly question?: JsonObject;
  readonly how?: 'answered' | 'expired' | 'declined';
  readonly key?: string;
  readonly wakeAt?: number;
  readonly messageId?: string;
}

function payloadOf(event: NewEvent): StoredChunk | StoredMembers {
  switch (event.kind) {
    case 'task-created':
    case 'artifact-discarded':
      return {};
    case 'artifact-updated':
      return storeChunk(event);
    case 'message-received':
      return { message: storeMessage(event.message), turn: event.turnNo };
    case 'status-changed':
      return {
        state: event.state,
        ...(event.message === undefined ? {} : { message: storeMessage(event.message) }),
        ...(event.errorId === undefined ? {} : { errorId: event.errorId }),
      };
    case 'cancel-requested':
      return { by: event.by };
    case 'run-started':
      return { runId: event.runId, turn: event.turnNo, attempt: event.attempt, workerId: event.workerId };
    case 'run-settled': {
      const reason = event.reason === undefined ? {} : { reason: event.reason };
      return { runId: event.runId, turn: event.turnNo, outcome: event.outcome, ...reason };
    }
    case 'question-asked':
      return { askId: event.askId, question: event.question };
    case 'question-answered':
      return { askId: event.askId, how: event.how };
    case 'timer-set':
      return { key: event.key, wakeAt: event.wakeAt };
    case 'timer-fired':
      return { key: event.key };
    case 'message-dropped':
      return { messageId: event.messageId, turn: event.turnNo };
    default:
      return unreachable(event);
  }
}

function eventOf(kind: EventKind, row: EventRow): NewEvent {
  if (kind === 'task-created') return { kind };
  if (kind === 'artifact-updated') return restoreChunk(JSON.parse(row.payload) as StoredChunk, row);
  if (kind === 'artifact-discarded') {
    const run = row.run_no === null ? {} : { runNo: row.run_no as RunNo };
    return { kind, artifactId: row.artifact_id as ArtifactId, ...run };
  }
  return restoreMembers(kind, JSON.parse(row.payload) as Required<StoredMembers>);
}

type PlainKind = Exclude<EventKind, 'task-created' | 'artifact-updated' | 'artifact-discarded'>;

/** `stored` has the members that `payloadOf` writes for this kind; the optional ones are asked for. */
function restoreMembers(kind: PlainKind, stored: Required<StoredMembers>): NewEvent {
  const given: Partial<StoredMembers> = stored;
  switch (kind) {
    case 'message-received':
      return { kind, message: restoreMessage(stored.message), turnNo: stored.turn as TurnNo };
    case 'status-changed':
      return {
        kind,
        state: stored.state,
        ...(given.message === undefined ? {} : { message: restoreMessage(given.message) }),
        ...(given.errorId === undefined ? {} : { errorId: given.errorId }),
      };
    case 'cancel-requested':
      return { kind, by: stored.by };
    case 'run-started': {
      const { runId, turn, attempt, workerId } = stored;
      return { kind, runId: runId as RunId, turnNo: turn as TurnNo, attempt, workerId };
    }
    case 'run-settled': {
      const reason = given.reason === undefined ? {} : { reason: given.reason };
      const { runId, turn, outcome } = stored;
      return { kind, runId: runId as RunId, turnNo: turn as TurnNo, outcome, ...reason };
    }
    case 'question-asked':
      return { kind, askId: stored.askId, question: stored.question };
    case 'question-answered':
      return { kind, askId: stored.askId, how: stored.how };
    case 'timer-set':
      return { kind, key: stored.key, wakeAt: stored.wakeAt as Instant };
    case 'timer-fired':
      return { kind, key: stored.key };
    case 'message-dropped':
      return { kind, messageId: stored.messageId as MessageId, turnNo: stored.turn as TurnNo };
    default:
      return unreachable(kind);
  }
}
