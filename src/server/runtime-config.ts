import { limits } from '../base/limits.ts';
import type { RuntimeConfig } from '../runtime/ports.ts';
import type { Config } from './config.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** The settings of the runtime, in its own units. */
export function runtimeConfig(
  config: Config,
  facts: { readonly ownsStore: boolean; readonly showErrors: boolean },
): RuntimeConfig {
  const { runs, a2a } = config;
  return {
    times: {
      cancelGraceMs: runs.cancelGraceSecs * 1_000,
      idleMaxMs: runs.idleMaxSecs * 1_000,
      totalMaxMs: runs.totalMaxSecs * 1_000,
      interruptedMaxMs: runs.interruptedMaxDays * DAY_MS,
      queuedMaxMs: runs.queuedMaxSecs * 1_000,
    },
    concurrency: runs.concurrency,
    leaseMs: runs.leaseSecs * 1_000,
    sweepMs: runs.sweepSecs * 1_000,
    pollMs: a2a.subscribePollSecs * 1_000,
    sendWaitMaxMs: a2a.sendWaitMaxSecs * 1_000,
    replyKeepMs: a2a.replyRetentionHours * HOUR_MS,
    queuedTurnsMax: limits.queuedTurnsMax,
    ...facts,
  };
}
