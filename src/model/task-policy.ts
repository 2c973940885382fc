/** What an agent, or a skill of it, decides about its tasks. */
export interface AgentPolicy {
  readonly whenBusy: 'reject' | 'queue';
  readonly cancel: 'any' | 'submitted-only';
  readonly onCrash: 'retry' | 'fail';
  readonly onError: 'fail' | 'retry';
  /** Lost workers a turn survives. */
  readonly crashesMax: number;
}

/** Times of the `runs.*` configuration, in milliseconds; 0 means none. */
export interface RunTimes {
  readonly cancelGraceMs: number;
  readonly idleMaxMs: number;
  readonly totalMaxMs: number;
  readonly interruptedMaxMs: number;
  readonly queuedMaxMs: number;
}

export const defaultRunTimes: RunTimes = {
  cancelGraceMs: 2_000,
  idleMaxMs: 3_600_000,
  totalMaxMs: 0,
  interruptedMaxMs: 30 * 86_400_000,
  queuedMaxMs: 3_600_000,
};

/** Back-off after the first, second, third … lost worker of a turn. */
const CRASH_BACKOFF_MS = [0, 1_000, 5_000, 25_000] as const;

export function crashBackoffMs(crashes: number): number {
  return CRASH_BACKOFF_MS[Math.min(crashes, CRASH_BACKOFF_MS.length) - 1] ?? 0;
}
