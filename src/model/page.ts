import type { Instant } from '../base/clock.ts';
import type { TaskNo } from './ids.ts';

/** A place in a listing that sorts by `stateAt` and then `no`, newest first: the last row of the page before. */
export interface TaskPlace {
  readonly stateAt: Instant;
  readonly no: TaskNo;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Whether rows follow the last item. */
  readonly more: boolean;
}
