import type { Instant } from './clock.ts';

/** Anything that lives longer than a request. Start twice, stop twice, stop before start, stop while starting: all harmless. */
export interface Service {
  readonly name: string;
  start(): Promise<void>;
  /** Stops taking work, lets work in hand end until `deadline`, then aborts it. Safe to call twice. */
  stop(deadline: Instant): Promise<void>;
}
