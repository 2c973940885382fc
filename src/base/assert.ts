/** A broken promise of our own code. It stops the attempt; it is never an answer to a caller. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

/** Throws when one of our own invariants does not hold; `rule` says which, as a sentence. */
export function assert(condition: unknown, rule: string): asserts condition {
  if (!condition) throw new AssertionError(rule);
}

/** Ends every switch over a union: a new member becomes a compile error here. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable: ${JSON.stringify(value)}`);
}
