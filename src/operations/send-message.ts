import type { SendRequest } from '../runtime/ports.ts';
import type { Snapshot } from '../store/contract.ts';
import { checkMessage } from './check-message.ts';
import { findSnapshot, resolved, wholeTask } from './find-task.ts';
import type { Call, SendParams, SendResult } from './operations.ts';
import type { Verb } from './verb.ts';

/**
 * Takes a message. Waits until its turn is over or interrupted unless told to return at once; a repeat of the same
 * message waits for the same turn. The task is the one that stands when the answer is written.
 */
export const sendMessage: Verb<SendParams, SendResult> = {
  validate: checkMessage,
  async run(parts, call, params) {
    const submitted = await parts.runtime.submit(sendRequest(call, params));
    if (submitted.kind === 'reply') return { kind: 'message', message: submitted.message };
    if (params.returnImmediately && submitted.first !== undefined) return task(await resolved(parts, submitted.first));
    if (!params.returnImmediately) {
      const { taskNo, turnNo, messageSeq } = submitted;
      await parts.runtime.awaitTurn({ taskNo, turnNo, after: messageSeq }, call.signal);
    }
    return task(await findSnapshot(parts, call, { id: submitted.task.id, ...wholeTask(params.historyLength) }));
  },
};

/** What the runtime takes from a call. */
export function sendRequest(call: Call, params: SendParams): SendRequest {
  return {
    caller: call.caller,
    agent: call.agent,
    message: params.message,
    ...(params.metadata === undefined ? {} : { metadata: params.metadata }),
    ...(call.traceId === undefined ? {} : { traceId: call.traceId }),
  };
}

function task(snapshot: Snapshot): SendResult {
  return { kind: 'task', snapshot };
}
