import { CodedError } from '../base/errors.ts';
import type { MessageId, TaskId } from '../model/ids.ts';

/** One answer for a task that does not exist, that was deleted, and that is somebody else's. */
export function taskNotFound(taskId: TaskId): CodedError {
  return new CodedError('task_not_found', { message: `There is no task ${taskId}.`, metadata: { taskId } });
}

/** The server stops before it could answer; what was asked for is recorded. */
export function goingAway(what: string): CodedError {
  return new CodedError('unavailable', { message: `This server is stopping. ${what}`, retryAfterSeconds: 1 });
}

/** A message whose first call has not come to an end that could be told. */
export function stillRunning(messageId: MessageId): CodedError {
  return new CodedError('unavailable', {
    message: `Message ${messageId} is still being answered. Send the same message again to get its reply.`,
    metadata: { messageId },
    retryAfterSeconds: 1,
  });
}
