/** Why a run's signal fired when its server stops: the turn goes on elsewhere, from its journal. */
export class DrainError extends Error {
  override readonly name = 'DrainError';

  constructor() {
    super('The server stops; this turn goes on on another one.');
  }
}

/** Why a signal fired otherwise. Named like every other abort, so that libraries treat it as one. */
export function abortReason(text: string): DOMException {
  return new DOMException(text, 'AbortError');
}
