import { createContext, Script } from 'node:vm';

/** Almost everything is through within the first; the second is for a process that its machine had put aside meanwhile. */
const TRIES_MS = [100, 400];

const idle = (): void => {};
const place = createContext({ work: idle });
const script = new Script('work()');

/**
 * Does what an author wrote with what a caller sent, such as comparing a pattern with a text, and stops it:
 * for `(a+)+$` thirty characters are enough to hold the process for hours, so no limit of length would do. A script can
 * be stopped from outside, whatever it calls; the watch costs a third of a millisecond. `work` is synchronous,
 * may be done twice, and changes nothing that would be spoilt half way.
 */
export function withinTime<Result>(work: () => Result): { readonly result: Result } | 'too-slow' {
  for (const timeout of TRIES_MS) {
    place.work = work as () => void;
    try {
      return { result: script.runInContext(place, { timeout }) as Result };
    } catch (error) {
      if ((error as NodeJS.ErrnoException | undefined)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    } finally {
      place.work = idle;
    }
  }
  return 'too-slow';
}
