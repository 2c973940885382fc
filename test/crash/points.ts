import { seededRandom } from '../../src/base/random.ts';
import type { CrashPoint } from './crash-point.ts';
import type { Moment } from './deadly-store.ts';

/** A point waits more than it works: five of its seconds are the chain's sleep. */
export const CRASHES_AT_ONCE = 6;

const MOMENTS: readonly Moment[] = ['before', 'during', 'after'];

/** `count` points over `writes` store writes, drawn by a seed: each stretch of the run gets its share of each moment. */
export function drawPoints(draw: {
  readonly count: number;
  readonly writes: number;
  readonly seed: number;
}): readonly CrashPoint[] {
  const random = seededRandom(draw.seed);
  return Array.from({ length: draw.count }, (_, index) => {
    const from = Math.floor((index * draw.writes) / draw.count);
    const to = Math.max(from + 1, Math.floor(((index + 1) * draw.writes) / draw.count));
    return {
      at: 1 + from + Math.floor(random.fraction() * (to - from)),
      moment: MOMENTS[Math.floor(random.fraction() * MOMENTS.length)] ?? 'before',
    };
  });
}

/** Runs `work` over `items`, `width` at a time. */
export async function inParallel<Item>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const loop = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: width }, loop));
}
