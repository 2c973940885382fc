import { COUNTS_ANYWHERE, isCommon, QUERY_WORDS_MAX, weightOf } from '../memory-rank.ts';
import { stemsOf } from '../stem.ts';

/** How fast repetitions of a word stop counting, and how much a long text is held back (Robertson and Zaragoza, BM25). */
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.75;

interface Text {
  readonly words: ReadonlyMap<string, number>;
  readonly length: number;
}

interface AskedWord<Key> {
  readonly word: string;
  readonly keys: ReadonlySet<Key>;
  readonly weight: number;
  readonly isCommon: boolean;
}

/** Texts by their words, found by any of them: rarer words, more words and shorter texts first. */
export class WordIndex<Key> {
  readonly #texts = new Map<Key, Text>();
  readonly #keysOf = new Map<string, Set<Key>>();
  #wordsTotal = 0;

  add(key: Key, text: string): void {
    this.remove(key);
    const words = new Map<string, number>();
    let length = 0;
    for (const word of stemsOf(text)) {
      words.set(word, (words.get(word) ?? 0) + 1);
      length += 1;
    }
    this.#texts.set(key, { words, length });
    this.#wordsTotal += length;
    for (const word of words.keys()) {
      const keys = this.#keysOf.get(word);
      if (keys === undefined) this.#keysOf.set(word, new Set([key]));
      else keys.add(key);
    }
  }

  remove(key: Key): void {
    const text = this.#texts.get(key);
    if (text === undefined) return;
    this.#texts.delete(key);
    this.#wordsTotal -= text.length;
    for (const word of text.words.keys()) {
      const keys = this.#keysOf.get(word);
      keys?.delete(key);
      if (keys?.size === 0) this.#keysOf.delete(word);
    }
  }

  /** The best `itemsMax` texts, best first. */
  search(query: string, itemsMax: number): readonly { readonly key: Key; readonly rank: number }[] {
    const asked = [...this.#asked(query)];
    const rarer = asked.filter(({ isCommon }) => !isCommon);
    const finding = rarer.length > 0 ? rarer : asked;
    const ranks = new Map<Key, number>();
    for (const { keys } of finding) for (const key of keys) ranks.set(key, 0);
    for (const word of asked) {
      const parts = finding.includes(word) ? this.#parts(word) : undefined;
      for (const key of word.keys) {
        const rank = ranks.get(key);
        if (rank === undefined) continue;
        const part = parts === undefined ? 1 : COUNTS_ANYWHERE + (1 - COUNTS_ANYWHERE) * (parts.get(key) ?? 0);
        ranks.set(key, rank + word.weight * part);
      }
    }
    return [...ranks]
      .map(([key, rank]) => ({ key, rank }))
      .sort((a, b) => b.rank - a.rank)
      .slice(0, itemsMax);
  }

  /** The words of a query that any text holds. */
  *#asked(query: string): Iterable<AskedWord<Key>> {
    const words = new Set<string>();
    for (const word of stemsOf(query)) {
      if (words.size >= QUERY_WORDS_MAX) break;
      words.add(word);
    }
    for (const word of words) {
      const keys = this.#keysOf.get(word);
      if (keys === undefined) continue;
      const count = { holding: keys.size, all: this.#texts.size };
      yield { word, keys, weight: weightOf(count), isCommon: isCommon(count) };
    }
  }

  /** How much of each text a word makes up, as part of the text where it is most. */
  #parts({ word, keys }: AskedWord<Key>): ReadonlyMap<Key, number> {
    const parts = new Map<Key, number>();
    for (const key of keys) parts.set(key, this.#part(word, key));
    let best = 0;
    for (const part of parts.values()) best = Math.max(best, part);
    for (const [key, part] of parts) parts.set(key, part / best);
    return parts;
  }

  #part(word: string, key: Key): number {
    const { words, length } = this.#texts.get(key) as Text;
    const count = words.get(word) ?? 0;
    const relativeLength = (length * this.#texts.size) / Math.max(1, this.#wordsTotal);
    const held = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * relativeLength);
    return count / (count + held);
  }
}
