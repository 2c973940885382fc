import type { Random } from '../../src/base/random.ts';

/** What a simulated handler does, one after the other; it is the text of the message that begins the turn. */
export type Op =
  /** A step that takes `ms` and throws on its first `fails` tries. */
  | { readonly op: 'step'; readonly name: string; readonly ms: number; readonly fails: number }
  | { readonly op: 'chunks'; readonly words: readonly string[]; readonly everyMs: number }
  | { readonly op: 'ask'; readonly name: string; readonly wants: 'number' | 'text'; readonly timeoutS: number }
  | { readonly op: 'authorize'; readonly scheme: string }
  | { readonly op: 'sleep'; readonly seconds: number }
  | { readonly op: 'status'; readonly text: string }
  /** Counts on in a key that every task of the session counts in. */
  | { readonly op: 'count' }
  /** Quiet work that now and then says that it is well. */
  | { readonly op: 'quiet'; readonly seconds: number }
  /** An artifact that only the turn's first run writes, so that a later run leaves it half. */
  | { readonly op: 'scrap'; readonly name: string }
  /** Side by side; they must be of kinds that write nothing into the artifact while they run. */
  | { readonly op: 'together'; readonly ops: readonly Op[] };

export type ScriptEnd = 'return' | 'completed' | 'fail' | 'throw' | 'reject' | 'input' | 'auth';

export interface Script {
  readonly ops: readonly Op[];
  readonly end: ScriptEnd;
}

export function scriptText(script: Script): string {
  return JSON.stringify(script);
}

/** The script in a text; any other text is a turn that does nothing and returns. */
export function readScript(text: string): Script {
  try {
    const value = JSON.parse(text) as Partial<Script> | null;
    if (Array.isArray(value?.ops) && value.end !== undefined) return { ops: value.ops, end: value.end };
  } catch {
    // Not a script.
  }
  return { ops: [], end: 'return' };
}

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random.fraction() * items.length)] as Item;
}

export function below(random: Random, bound: number): number {
  return Math.floor(random.fraction() * bound);
}

export function randomScript(random: Random): Script {
  const ops = Array.from({ length: below(random, 7) }, (_, index) => randomOp(random, `${index}`));
  const end = random.fraction() < 0.7 ? pick(random, ['return', 'completed'] as const) : pick(random, ENDS);
  return { ops, end };
}

const ENDS: readonly ScriptEnd[] = ['fail', 'throw', 'reject', 'input', 'auth', 'input'];

function randomOp(random: Random, name: string): Op {
  const choice = random.fraction();
  if (choice < 0.22) return randomStep(random, name);
  if (choice < 0.5) return randomChunks(random, name);
  if (choice < 0.65) return randomAsk(random, name);
  if (choice < 0.7) return { op: 'authorize', scheme: `scheme-${name}` };
  if (choice < 0.8) return { op: 'sleep', seconds: pick(random, [0.2, 2, 6, 9]) };
  if (choice < 0.85) return { op: 'status', text: `status ${name}` };
  if (choice < 0.87) return { op: 'scrap', name: `scrap-${name}` };
  if (choice < 0.91) return { op: 'count' };
  if (choice < 0.92) return { op: 'quiet', seconds: 60 };
  return { op: 'together', ops: randomTogether(random, name) };
}

function randomStep(random: Random, name: string): Op {
  const fails = random.fraction() < 0.15 ? pick(random, [1, 2, 5]) : 0;
  return { op: 'step', name: `step-${name}`, ms: pick(random, [0, 5, 300, 2_500, 6_000]), fails };
}

function randomChunks(random: Random, name: string): Op {
  const isLong = random.fraction() < 0.05;
  const words = Array.from({ length: isLong ? 30 : 1 + below(random, 12) }, (_, index) => `${name}.${index} `);
  return { op: 'chunks', words, everyMs: isLong ? 2_000 : pick(random, [0, 20, 400, 900]) };
}

function randomAsk(random: Random, name: string): Op {
  const timeoutS = random.fraction() < 0.3 ? pick(random, [2, 7]) : 0;
  return { op: 'ask', name: `question-${name}`, wants: pick(random, ['number', 'text']), timeoutS };
}

function randomTogether(random: Random, name: string): readonly Op[] {
  const kinds = Array.from({ length: 2 + below(random, 2) }, () => below(random, 3));
  return kinds.map((kind, index): Op => {
    const inner = `${name}-${index}`;
    if (kind === 0) return randomStep(random, inner);
    return kind === 1 ? randomAsk(random, inner) : { op: 'sleep', seconds: pick(random, [1, 6]) };
  });
}
