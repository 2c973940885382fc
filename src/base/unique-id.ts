import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

/** Makes ids that sort by their time of making (UUID version 7, RFC 9562 §5.7). */
export type NewId = () => string;

/** The pool saves a system call per id: 8,000 ids a draw. */
const POOL_BYTES = 80_000;
const RANDOM_BYTES = 10;

export function createIdSource(source: {
  readonly clock: Clock;
  readonly random: Random;
  readonly pool?: number;
}): NewId {
  const poolBytes = source.pool ?? POOL_BYTES;
  let pool = new Uint8Array(0);
  let used = 0;
  return () => {
    if (used + RANDOM_BYTES > pool.length) {
      pool = Uint8Array.from(source.random.bytes(poolBytes));
      used = 0;
    }
    const bytes = pool.subarray(used, used + RANDOM_BYTES);
    used += RANDOM_BYTES;
    return formatUuid7(source.clock.now(), bytes);
  };
}

function formatUuid7(epochMs: number, bytes: Uint8Array): string {
  const time = epochMs.toString(16).padStart(12, '0');
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
  const variant = ((Number.parseInt(hex[3] ?? '0', 16) & 0x3) | 0x8).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex.slice(0, 3)}-${variant}${hex.slice(4, 7)}-${hex.slice(7, 19)}`;
}
