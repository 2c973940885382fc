import type { ContextId, ThreadId } from '../model/ids.ts';
import type { Session } from '../model/session.ts';
import { rowsOf } from './find-task.ts';
import type { Verb } from './verb.ts';

/** An empty session, so that a client knows its thread before it says anything. Opening a known one changes nothing. */
export const openSession: Verb<{ readonly sessionId?: ContextId }, Session> = {
  run: (parts, call, { sessionId }) =>
    rowsOf(parts, call).openSession({
      contextId: sessionId ?? (parts.newId() as ContextId),
      threadId: parts.newId() as ThreadId,
    }),
};
