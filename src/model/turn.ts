import type { MessageId, Seq, TurnNo } from './ids.ts';
import type { Principal } from './scope.ts';

export type TurnState = 'queued' | 'current' | 'settled' | 'dropped';
export const TURN_STATE_NUMBERS = { queued: 0, current: 1, settled: 2, dropped: 3 } as const satisfies Record<
  TurnState,
  number
>;

/** One call of the agent's handler, begun by a message. */
export interface Turn {
  readonly turnNo: TurnNo;
  readonly state: TurnState;
  readonly messageId: MessageId;
  /** The event that holds the message. */
  readonly messageSeq: Seq;
  readonly skill: string;
  readonly principal: Principal;
  readonly agentVersion: string;
  /** Runs so far. */
  readonly attempts: number;
  /** Runs that ended because their worker was lost; only these are limited. */
  readonly crashes: number;
}
