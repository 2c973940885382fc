import { limits } from '../base/limits.ts';
import type { Seq, TaskId } from '../model/ids.ts';
import type { Task } from '../model/task.ts';
import { answerBytes } from '../runtime/event-bytes.ts';
import { findTask } from './find-task.ts';
import type { Call, EventPage, StreamEvent } from './operations.ts';
import { endsAtTerminalOnly, followTask } from './task-stream.ts';
import type { OperationParts, Verb } from './verb.ts';

/** One page of the log as it stands now, from right after `after`. It ends after `limit` events, or after the one that makes it too large. */
export const readEvents: Verb<{ readonly id: TaskId; readonly after?: Seq; readonly limit?: number }, EventPage> = {
  async run(parts, call, { id, after = 0 as Seq, limit = limits.eventsPerReadMax }) {
    const { task } = await findTask(parts, call, id);
    const events = after < task.headSeq ? await firstEvents(parts, call, { task, after, limit }) : [];
    return { task, events, headSeq: task.headSeq };
  },
};

/** The feed is the only reader of a log; a page is the beginning of what a follower would get. */
async function firstEvents(
  parts: OperationParts,
  call: Call,
  page: { readonly task: Task; readonly after: Seq; readonly limit: number },
): Promise<readonly StreamEvent[]> {
  const { task, after, limit } = page;
  const events: StreamEvent[] = [];
  let bytes = 0;
  const place = { task, after, startsFresh: after === 0, endsAt: endsAtTerminalOnly };
  for await (const batch of followTask(parts, call, place)) {
    for (const item of batch) {
      if (item.kind !== 'event') return events;
      events.push(item);
      bytes += answerBytes(item.event);
      if (events.length === limit || bytes > limits.readBytesMax || item.event.seq >= task.headSeq) return events;
    }
  }
  return events;
}
