import { CodedError } from '../base/errors.ts';
import type { ContextId } from '../model/ids.ts';
import type { Session } from '../model/session.ts';
import { rowsOf } from './find-task.ts';
import type { Verb } from './verb.ts';

/** One session of the caller. Throws `session_not_found` for foreign and absent ids alike. */
export const readSession: Verb<{ readonly sessionId: ContextId }, Session> = {
  async run(parts, call, { sessionId }) {
    const session = await rowsOf(parts, call).readSession(sessionId);
    if (session !== undefined) return session;
    throw new CodedError('session_not_found', {
      message: 'There is no such session, or it is not yours. Check the id, and that you call its agent.',
      metadata: { sessionId },
    });
  },
};
