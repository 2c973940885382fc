import type { StoredEvent } from '../model/event.ts';
import { foldContent, foldTask } from '../model/task-fold.ts';
import type { SendRequest } from '../runtime/ports.ts';
import type { Snapshot } from '../store/contract.ts';
import { checkMessage } from './check-message.ts';
import { findShown, wholeTask } from './find-task.ts';
import type { Call, SendParams, SendResult, TaskShown } from './operations.ts';
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
    const { id } = submitted.task;
    const inHand = (snapshot: Snapshot): SendResult => task(parts.largeTasks.show(snapshot, { id, artifacts: true }));
    if (params.returnImmediately && submitted.first !== undefined) return inHand(submitted.first);
    if (!params.returnImmediately) {
      const { taskNo, turnNo, messageSeq, first } = submitted;
      const events = await parts.runtime.awaitTurn({ taskNo, turnNo, after: messageSeq }, call.signal);
      if (first !== undefined && events !== undefined) return inHand(endedSnapshot(first, events));
    }
    return task(await findShown(parts, call, { id, ...wholeTask(params.historyLength) }));
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

/** The task as it ended, from how it began and all that happened since: what a read of it would give. */
function endedSnapshot(first: Snapshot, events: readonly StoredEvent[]): Snapshot {
  const since = events.filter((event) => event.seq > first.task.headSeq);
  const { deadline: _deadline, totalAt: _totalAt, ...ended } = since.reduce(foldTask, first.task);
  return { task: ended, content: since.reduce(foldContent, first.content) };
}

function task(snapshot: TaskShown): SendResult {
  return { kind: 'task', snapshot };
}
