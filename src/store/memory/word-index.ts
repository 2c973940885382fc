const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** How fast repetitions of a word stop counting, and how much a long text is held back (Robertson and Zaragoza, BM25). */
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.75;
/** A query is a question, not a document; what follows is not looked at. */
const QUERY_WORDS_MAX = 64;

interface Text {
  readonly words: ReadonlyMap<string, number>;
  readonly length: number;
}

/** Texts by their words, found by any of them and ranked by BM25: more words, rarer words and shorter texts first. */
export class WordIndex<Key> {
  readonly #texts = new Map<Key, Text>();
  readonly #keysOf = new Map<string, Set<Key>>();
  #wordsTotal = 0;

  add(key: Key, text: string): void {
    this.remove(key);
    const words = new Map<string, number>();
    let length = 0;
    for (const word of wordsOf(text)) {
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
    const ranks = new Map<Key, number>();
    const asked = new Set<string>();
    for (const word of wordsOf(query)) {
      if (asked.size >= QUERY_WORDS_MAX) break;
      asked.add(word);
    }
    for (const word of asked) {
      const keys = this.#keysOf.get(word) ?? new Set<Key>();
      for (const key of keys) ranks.set(key, (ranks.get(key) ?? 0) + this.#weight(word, key, keys.size));
    }
    return [...ranks]
      .map(([key, rank]) => ({ key, rank }))
      .sort((a, b) => b.rank - a.rank)
      .slice(0, itemsMax);
  }

  #weight(word: string, key: Key, textsWithWord: number): number {
    const { words, length } = this.#texts.get(key) as Text;
    const count = words.get(word) ?? 0;
    const rarity = Math.log(1 + (this.#texts.size - textsWithWord + 0.5) / (textsWithWord + 0.5));
    const relativeLength = (length * this.#texts.size) / Math.max(1, this.#wordsTotal);
    const held = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * relativeLength);
    return (rarity * count * (SATURATION + 1)) / (count + held);
  }
}

function* wordsOf(text: string): Iterable<string> {
  for (const [word] of text.toLowerCase().matchAll(WORD)) yield word;
}
