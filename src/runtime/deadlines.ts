import type { RunTimes } from '../model/task-policy.ts';
import type { NewDeadline } from '../model/task-write.ts';

/** How long a run may stay silent; undefined where it may for ever. */
export function idleDeadline(times: RunTimes): NewDeadline | undefined {
  return times.idleMaxMs > 0 ? { kind: 'idle', inMs: times.idleMaxMs } : undefined;
}
