import type { RunTimes } from '../model/task-policy.ts';
import type { NewDeadline } from '../model/task-write.ts';

/** A silent run is ended at most this much later than it was promised, and at most an eighth of what was promised. */
const SLACK_MS_MAX = 60_000;

function slackMs(idleMaxMs: number): number {
  return Math.min(SLACK_MS_MAX, Math.floor(idleMaxMs / 8));
}

/** How long a run may stay silent, and the slack that lets its next batches leave the deadline alone; undefined where it may for ever. */
export function idleDeadline({ idleMaxMs }: RunTimes): NewDeadline | undefined {
  return idleMaxMs > 0 ? { kind: 'idle', inMs: idleMaxMs + slackMs(idleMaxMs) } : undefined;
}

/**
 * The idle deadline of a run that writes. Its column is indexed, and on PostgreSQL a row whose indexed columns change is
 * written anew into every index of its table. So it is put off when half of the slack is used up, not with every batch; the
 * other half is for batches that a broken connection holds back.
 */
export class IdleDeadline {
  readonly #deadline: NewDeadline | undefined;
  readonly #renewMs: number;
  #writtenAtMs: number;

  /** The grant wrote it at `grantedAtMs`. */
  constructor(times: RunTimes, grantedAtMs: number) {
    this.#deadline = idleDeadline(times);
    this.#renewMs = slackMs(times.idleMaxMs) / 2;
    this.#writtenAtMs = grantedAtMs;
  }

  /** What a batch that is written now has to put off; undefined while the stored one is far enough away. */
  due(nowMs: number): NewDeadline | undefined {
    return nowMs - this.#writtenAtMs >= this.#renewMs ? this.#deadline : undefined;
  }

  /** The store has it, since `nowMs` or later. */
  written(nowMs: number): void {
    this.#writtenAtMs = nowMs;
  }
}
