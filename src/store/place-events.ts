import { assert } from '../base/assert.ts';
import type { Instant } from '../base/clock.ts';
import type { NewEvent, StoredEvent } from '../model/event.ts';
import type { MessageId, RunId, Seq, TurnNo } from '../model/ids.ts';
import type { Task, TaskState } from '../model/task.ts';

/** The time of what is written now: the store's, but never before the newest event's, so that a log reads forwards on a clock that jumped back. */
export function writtenAt(task: Pick<Task, 'headAt'> | undefined, now: Instant): Instant {
  return task === undefined || now > task.headAt ? now : task.headAt;
}

/** Events with the places after `headSeq`, all at one time. */
export function placeEvents(
  events: readonly NewEvent[],
  place: { readonly headSeq: number; readonly at: Instant },
): readonly StoredEvent[] {
  return events.map((event, index) => ({ ...event, seq: (place.headSeq + index + 1) as Seq, at: place.at }));
}

/** What a grant appends: `run-started`, and the status of a task that had not begun to work. */
export function grantEvents(
  task: { readonly state: TaskState },
  run: { readonly id: RunId; readonly turnNo: TurnNo; readonly attempt: number; readonly workerId: string },
): readonly NewEvent[] {
  const started: NewEvent = {
    kind: 'run-started',
    runId: run.id,
    turnNo: run.turnNo,
    attempt: run.attempt,
    workerId: run.workerId,
  };
  return task.state === 'submitted' ? [started, { kind: 'status-changed', state: 'working' }] : [started];
}

/** The place of a message in the log; what an idempotency row remembers of it. */
export function messageSeqOf(events: readonly StoredEvent[], messageId: MessageId): Seq {
  const found = events.find((event) => event.kind === 'message-received' && event.message.messageId === messageId);
  assert(found !== undefined, 'a message that is remembered stands among the events of its write');
  return found.seq;
}
