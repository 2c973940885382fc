import { fieldError } from '../base/errors.ts';
import type { Cursor } from '../model/cursor.ts';
import type { Seq, TaskId } from '../model/ids.ts';
import { isTerminal, type Task } from '../model/task.ts';
import { findShown, findTask } from './find-task.ts';
import type { Call, StreamItem, TaskShown } from './operations.ts';
import { endsAtTerminalOnly, followTask, noItems } from './task-stream.ts';
import type { OperationParts, Verb } from './verb.ts';

export interface FollowedEvents {
  readonly snapshot?: TaskShown;
  readonly task: Task;
  readonly items: AsyncIterable<readonly StreamItem[]>;
}

/**
 * Replays the log from a cursor, then follows it to the end; a task that has ended is replayed whole. A cursor of
 * another incarnation says nothing about this log (it was restored, or failed over), so its reader starts anew from a
 * snapshot. A cursor beyond the head was never given out.
 */
export const followEvents: Verb<{ readonly id: TaskId; readonly cursor?: Cursor }, FollowedEvents> = {
  async run(parts, call, { id, cursor }) {
    if (cursor !== undefined && cursor.incarnation !== parts.runtime.incarnation) {
      const snapshot = await findShown(parts, call, { id, artifacts: true });
      return { snapshot, ...follow(parts, call, { task: snapshot.task, after: snapshot.task.headSeq }) };
    }
    const { task } = await findTask(parts, call, id);
    if (cursor !== undefined && cursor.seq > task.headSeq) {
      throw fieldError('Last-Event-ID', `is beyond the end of this log, which is at ${task.headSeq}`);
    }
    return follow(parts, call, { task, after: cursor?.seq ?? (0 as Seq) });
  },
};

function follow(
  parts: OperationParts,
  call: Call,
  from: { readonly task: Task; readonly after: Seq },
): { readonly task: Task; readonly items: AsyncIterable<readonly StreamItem[]> } {
  const isOver = isTerminal(from.task.state) && from.after >= from.task.headSeq;
  const place = { ...from, startsFresh: from.after === 0, endsAt: endsAtTerminalOnly };
  return { task: from.task, items: isOver ? noItems() : followTask(parts, call, place) };
}
