import { unreachable } from '../base/assert.ts';
import type { Instant } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { AgentName, ContextId, Fence, Seq, SessionNo, TaskId, TaskNo, ThreadId, TurnNo } from './ids.ts';
import type { Scope } from './scope.ts';

export type TaskState =
  | 'submitted'
  | 'working'
  | 'completed'
  | 'failed'
  | 'canceled'
  | 'input-required'
  | 'rejected'
  | 'auth-required';

/** The store's numbers are the proto's (A2A 1.0 TaskState). */
export const TASK_STATE_NUMBERS = {
  submitted: 1,
  working: 2,
  completed: 3,
  failed: 4,
  canceled: 5,
  'input-required': 6,
  rejected: 7,
  'auth-required': 8,
} as const satisfies Record<TaskState, number>;

export type TerminalState = 'completed' | 'failed' | 'canceled' | 'rejected';
export type InterruptedState = 'input-required' | 'auth-required';

/** Which deadline is the nearest: `cancel` ends a task whose agent ignores its cancel, the others end a silent one. */
export type DeadlineKind = 'cancel' | 'idle' | 'total' | 'interrupted' | 'queued';

/**
 * The task row: everything that is folded from the log but content. Every change but a chunk's is decided on it,
 * and written only where `headSeq` is still the one that was read.
 */
export interface Task {
  readonly no: TaskNo;
  readonly id: TaskId;
  readonly agent: AgentName;
  readonly scope: Scope;
  readonly sessionNo: SessionNo;
  readonly contextId: ContextId;
  readonly threadId: ThreadId;
  readonly state: TaskState;
  /** Time of the latest status event; ListTasks sorts by it. */
  readonly stateAt: Instant;
  /** The latest status event. */
  readonly statusSeq: Seq;
  readonly headSeq: Seq;
  readonly headAt: Instant;
  /** Counts status events; A2A 1.1 will ask for it. */
  readonly generation: number;
  readonly createdAt: Instant;
  /** The highest turn number given out; a queued turn has one too. */
  readonly turnNo: TurnNo;
  readonly fence: Fence;
  readonly emitNo: number;
  readonly cancelAt?: Instant;
  readonly cancelBy?: string;
  readonly deadline?: { readonly kind: DeadlineKind; readonly at: Instant };
  /** When the current stretch of work must be over for good; the `total` deadline, kept beside nearer ones. */
  readonly totalAt?: Instant;
  readonly endedAt?: Instant;
  /** The W3C trace id of the request that began the task, 32 hex digits. */
  readonly trace?: string;
  readonly metadata?: JsonObject;
}

export function isTerminal(state: TaskState): state is TerminalState {
  switch (state) {
    case 'completed':
    case 'failed':
    case 'canceled':
    case 'rejected':
      return true;
    case 'submitted':
    case 'working':
    case 'input-required':
    case 'auth-required':
      return false;
    default:
      return unreachable(state);
  }
}

export function isInterrupted(state: TaskState): state is InterruptedState {
  return state === 'input-required' || state === 'auth-required';
}
