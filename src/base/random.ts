import { randomBytes } from 'node:crypto';

/** Where chance comes from. Production draws from the operating system; tests from a printed seed. */
export interface Random {
  /** `count` random bytes. */
  bytes(count: number): Uint8Array;
  /** In [0, 1). */
  fraction(): number;
}

export const systemRandom: Random = {
  // Not crypto.getRandomValues: it gives at most 65,536 bytes a call, less than a pool of ids draws.
  bytes: (count) => new Uint8Array(randomBytes(count)),
  fraction: () => Math.random(),
};

/** A repeatable source (mulberry32); for tests and simulations only. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { fraction, bytes: (count) => Uint8Array.from({ length: count }, () => Math.floor(fraction() * 256)) };
}
