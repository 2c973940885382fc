import type { Instant } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { ArtifactHeader, ArtifactOrigin } from './artifact.ts';
import type { ArtifactId, MessageId, RunId, RunNo, Seq, TurnNo } from './ids.ts';
import type { Message, Part } from './message.ts';
import type { RunOutcome } from './run.ts';
import type { TaskState } from './task.ts';

/** Who may see an event: every door, the native API alone, or nobody outside. */
export type Audience = 'all' | 'native' | 'internal';
export const AUDIENCE_NUMBERS = { all: 0, native: 1, internal: 2 } as const satisfies Record<Audience, number>;

/** Kinds in the store's order: 1, 2, 3 … New kinds go at the end. */
export const EVENT_KIND_NUMBERS = {
  'task-created': 1,
  'message-received': 2,
  'status-changed': 3,
  'artifact-updated': 4,
  'artifact-discarded': 5,
  'cancel-requested': 6,
  'run-started': 7,
  'run-settled': 8,
  'question-asked': 9,
  'question-answered': 10,
  'timer-set': 11,
  'timer-fired': 12,
  'message-dropped': 13,
} as const;
export type EventKind = keyof typeof EVENT_KIND_NUMBERS;

/** A fact about a task before the store has given it a place and a time. */
export type NewEvent =
  | { readonly kind: 'task-created' }
  | { readonly kind: 'message-received'; readonly message: Message; readonly turnNo: TurnNo }
  | {
      readonly kind: 'status-changed';
      readonly state: TaskState;
      readonly message?: Message;
      readonly errorId?: string;
    }
  | ArtifactUpdated
  | { readonly kind: 'artifact-discarded'; readonly artifactId: ArtifactId; readonly runNo?: RunNo }
  | { readonly kind: 'cancel-requested'; readonly by: string }
  | {
      readonly kind: 'run-started';
      readonly runId: RunId;
      readonly turnNo: TurnNo;
      readonly attempt: number;
      readonly workerId: string;
    }
  | {
      readonly kind: 'run-settled';
      readonly runId: RunId;
      readonly turnNo: TurnNo;
      readonly outcome: RunOutcome;
      readonly reason?: string;
    }
  | { readonly kind: 'question-asked'; readonly askId: string; readonly question: JsonObject }
  | { readonly kind: 'question-answered'; readonly askId: string; readonly how: 'answered' | 'expired' | 'declined' }
  | { readonly kind: 'timer-set'; readonly key: string; readonly wakeAt: Instant }
  | { readonly kind: 'timer-fired'; readonly key: string }
  | { readonly kind: 'message-dropped'; readonly messageId: MessageId; readonly turnNo: TurnNo };

/**
 * New content of an artifact. `append: false` opens it or replaces it whole and brings its header;
 * `append: true` with a header opens it if it is unknown; a later chunk has no header at all.
 */
export interface ArtifactUpdated {
  readonly kind: 'artifact-updated';
  readonly artifactId: ArtifactId;
  readonly origin: ArtifactOrigin;
  readonly turnNo: TurnNo;
  readonly runNo?: RunNo;
  readonly header?: ArtifactHeader;
  readonly parts: readonly Part[];
  readonly append: boolean;
  readonly lastChunk: boolean;
}

/** A fact of a kind that a newer version wrote: it holds its place in the log, and whoever reads it passes over it. */
export interface UnknownEvent {
  readonly kind: 'unknown';
}

/** A fact in the log. `seq` counts every event of the task, whoever may see it. */
export type StoredEvent = (NewEvent | UnknownEvent) & { readonly seq: Seq; readonly at: Instant };

/** Input artifacts and the engine's own facts are native's; A2A streams carry status and artifact updates only. */
export function audienceOf(event: NewEvent | UnknownEvent): Audience {
  switch (event.kind) {
    case 'unknown':
      return 'internal';
    case 'status-changed':
    case 'artifact-discarded':
      return 'all';
    case 'artifact-updated':
      return event.origin === 'output' ? 'all' : 'native';
    default:
      return 'native';
  }
}
