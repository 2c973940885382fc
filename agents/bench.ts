import { systemClock } from '../src/base/clock.ts';
import { defineAgent, Reject } from '../src/index.ts';

/** What one message asks of the bench agent. */
export interface BenchOrder {
  /** Chunks of the one artifact; none makes no artifact. */
  readonly chunks: number;
  /** Letters of a chunk. */
  readonly size: number;
  /** Milliseconds between two chunks. */
  readonly delay: number;
  /** Milliseconds before the first chunk. */
  readonly hold: number;
}

const DEFAULTS: BenchOrder = { chunks: 0, size: 64, delay: 0, hold: 0 };
const MAXIMA: BenchOrder = { chunks: 1_000_000, size: 4 * 1024 * 1024, delay: 3_600_000, hold: 86_400_000 };
const HOW = 'Write "bench chunks=K size=B delay=MS hold=MS"; what you leave out is 0, and size is 64.';

/** The order in a text such as `bench chunks=200 delay=50`. Throws `Reject` that says what to write. */
export function parseBenchText(text: string): BenchOrder {
  const [name, ...words] = text.trim().split(/\s+/);
  if (name !== 'bench') throw new Reject(`This agent is for measuring. ${HOW}`);
  const order: Record<keyof BenchOrder, number> = { ...DEFAULTS };
  for (const word of words) {
    const [, key, digits] = /^(chunks|size|delay|hold)=(\d{1,9})$/.exec(word) ?? [];
    if (key === undefined) throw new Reject(`"${word.slice(0, 40)}" is no setting. ${HOW}`);
    const setting = key as keyof BenchOrder;
    const value = Number(digits);
    if (value > MAXIMA[setting]) throw new Reject(`${setting} may be at most ${MAXIMA[setting]}.`);
    order[setting] = value;
  }
  return order;
}

export default defineAgent({
  name: 'bench',
  description: 'Streams as many chunks as it is told to: for measuring a server, and for stopping it on the way.',
  policy: { crashesMax: 20 },
  async run(turn) {
    const { chunks, size, delay, hold } = parseBenchText(turn.text);
    if (hold > 0) await systemClock.sleep(hold, turn.signal);
    if (chunks === 0) return;
    const artifact = turn.artifact('bench');
    const chunk = 'x'.repeat(size);
    for (let count = 1; count <= chunks; count += 1) {
      if (count > 1 && delay > 0) await systemClock.sleep(delay, turn.signal);
      await artifact.append(chunk, { last: count === chunks });
    }
  },
});
