import type { Instant } from '../base/clock.ts';
import type { AgentName, ContextId, SessionNo, ThreadId } from './ids.ts';

/** A conversation in one scope; A2A calls its id `contextId`. `threadId` is ours, for agent frameworks' checkpointers. */
export interface Session {
  readonly no: SessionNo;
  readonly agent: AgentName;
  readonly contextId: ContextId;
  readonly threadId: ThreadId;
  readonly createdAt: Instant;
}
