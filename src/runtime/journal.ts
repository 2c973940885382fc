import { hash } from 'node:crypto';
import type { TurnNo } from '../model/ids.ts';
import type { JournalEntry } from '../model/journal.ts';
import type { JournalWrite } from '../model/task-write.ts';

/** Longer names are cut and told apart by a digest: a question may be a page long, a key may not. */
const NAME_CHARS_MAX = 160;
const NAME_CHARS_KEPT = 120;

/**
 * What earlier runs of the turn recorded, found under kind + name + occurrence: `step:pay`, then `step:pay#2`. Never
 * under a position, so that steps which are added or reordered in a deployed agent find what is theirs.
 */
export class Journal {
  readonly #turnNo: TurnNo;
  readonly #entries: Map<string, JournalEntry>;
  readonly #occurrences = new Map<string, number>();

  constructor(turnNo: TurnNo, entries: readonly JournalEntry[]) {
    this.#turnNo = turnNo;
    this.#entries = new Map(entries.map((entry) => [entry.key, entry]));
  }

  /** The key of the next call of this name. */
  nextKey(kind: string, name: string): string {
    const stem = `${kind}:${shortName(name)}`;
    const occurrence = (this.#occurrences.get(stem) ?? 0) + 1;
    this.#occurrences.set(stem, occurrence);
    return occurrence === 1 ? stem : `${stem}#${occurrence}`;
  }

  find(key: string): JournalEntry | undefined {
    return this.#entries.get(key);
  }

  /** A row of this turn's journal. */
  row(row: Omit<JournalWrite, 'turnNo'>): JournalWrite {
    return { turnNo: this.#turnNo, ...row };
  }
}

/** Doubled `#`, so that a name which ends in `#2` is not taken for a second occurrence. */
function shortName(name: string): string {
  const escaped = name.replaceAll('#', '##');
  if (escaped.length <= NAME_CHARS_MAX) return escaped;
  return `${escaped.slice(0, NAME_CHARS_KEPT)}…${hash('sha256', name, 'hex').slice(0, 24)}`;
}
