import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

/** Makes ids that sort by their time of making (UUID version 7, RFC 9562 §5.7). */
export type NewId = () => string;

/** The pool saves a system call per id, and a conversion: 8,000 ids a draw. */
const POOL_BYTES = 80_000;
const RANDOM_BYTES = 10;
/** The two bits of the variant, before the two that stay random. */
const VARIANTS: Readonly<Record<string, string>> = Object.fromEntries(
  [...'0123456789abcdef'].map((digit) => [digit, ((Number.parseInt(digit, 16) & 0x3) | 0x8).toString(16)]),
);

export function createIdSource(source: {
  readonly clock: Clock;
  readonly random: Random;
  readonly pool?: number;
}): NewId {
  const poolBytes = source.pool ?? POOL_BYTES;
  let pool = '';
  let used = 0;
  let atMs = -1;
  let head = '';
  return () => {
    if (used + 2 * RANDOM_BYTES > pool.length) {
      pool = Buffer.from(source.random.bytes(poolBytes)).toString('hex');
      used = 0;
    }
    const nowMs = source.clock.now();
    if (nowMs !== atMs) {
      atMs = nowMs;
      head = timeHead(nowMs);
    }
    const at = used;
    used += 2 * RANDOM_BYTES;
    const variant = VARIANTS[pool[at + 3] ?? ''];
    return `${head}${pool.slice(at, at + 3)}-${variant}${pool.slice(at + 4, at + 7)}-${pool.slice(at + 7, at + 19)}`;
  };
}

/** The time and the version: the same for all ids of one millisecond. */
function timeHead(epochMs: number): string {
  const time = epochMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7`;
}
