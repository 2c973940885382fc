/**
 * How the hits of a search are ranked, in every store: each word of the query that a memory holds counts by the square
 * of its rarity, so that one rare word outweighs several frequent ones, and a little by its part of the memory. A word
 * that is common in a large memory counts too, but finds nothing by itself while a rarer one does.
 */

/** A word in more of the memories than this is common; in a small memory none is. */
export const COMMON_SHARE = 0.25;
export const COMMON_MEMORIES_MIN = 20;
/** What a word counts wherever it stands; the rest is for how much of the memory it makes up, beside the best. */
export const COUNTS_ANYWHERE = 0.8;
/** More words make a query slower and no better. */
export const QUERY_WORDS_MAX = 64;

export interface WordCount {
  /** Memories that hold the word, and all that there are. */
  readonly holding: number;
  readonly all: number;
}

export function isCommon({ holding, all }: WordCount): boolean {
  return holding > Math.max(COMMON_MEMORIES_MIN, all * COMMON_SHARE);
}

export function weightOf({ holding, all }: WordCount): number {
  return Math.log(1 + all / holding) ** 2;
}
