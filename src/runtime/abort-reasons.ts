/** Why a run's signal fired when its server stops: the turn goes on elsewhere, from its journal. */
export class DrainError extends Error {
  override readonly name = 'DrainError';

  constructor() {
    super('The server stops; this turn goes on on another one.');
  }
}

/** Why a signal fired otherwise. Named like every other abort, so that libraries treat it as one. */
export const abortReasons = {
  ended: abortReason('The run has ended.'),
  parked: abortReason('The turn waits; it goes on in another run.'),
  canceled: abortReason('The task was canceled.'),
  broken: abortReason('The run has failed.'),
  lost: abortReason('The lease of this run was lost.'),
} as const;

/** One object for all runs: making one takes a stack, which costs more than the rest of a short run's end. */
function abortReason(text: string): DOMException {
  return new DOMException(text, 'AbortError');
}
