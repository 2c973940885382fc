import { CodedError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';

/**
 * Decides and writes until it holds: `attempt` reads, decides and writes only where the task still stands as it was
 * read, and gives undefined where it had moved. Eight times, then `overloaded`.
 */
export async function untilWritten<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let tries = 0; tries < limits.commandTriesMax; tries += 1) {
    const result = await attempt();
    if (result !== undefined) return result;
  }
  throw new CodedError('overloaded', {
    message: 'This task changes faster than the request could be applied. Nothing was changed; send it again.',
    retryAfterSeconds: 1,
  });
}
