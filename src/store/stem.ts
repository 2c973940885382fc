/** What a full-text search takes for a word, in every store. */
const WORD = /[\p{L}\p{N}\p{M}\p{Co}]+/gu;
/** No English word is longer, and the rules look at a word letter by letter, back from each. */
const ENGLISH_CHARS_MAX = 64;

/** The words of a text, in lower case, as they are compared. */
export function* stemsOf(text: string): Iterable<string> {
  for (const [word] of text.toLowerCase().matchAll(WORD)) yield stemOf(word);
}

/** A text with its words as they are compared and everything else as it was, for an index that cuts words itself. */
export function withStems(text: string): string {
  return text.replace(WORD, (word) => (isEnglish(word) ? stemOf(word.toLowerCase()) : word));
}

/**
 * An English word without its endings of number and tense, so that `leases`, `leased` and `leasing` find each other: the
 * first and the last step of Porter's second stemmer. What makes other words of a word (`-ation`, `-ness`) stays, since
 * those mean something else. Words of other letters stay as they are. `word` is in lower case.
 */
export function stemOf(word: string): string {
  if (word.length < 3 || !isEnglish(word)) return word;
  return withoutFinalE(withFinalI(withoutTense(withoutPlural(word))));
}

function isEnglish(word: string): boolean {
  return word.length <= ENGLISH_CHARS_MAX && /^[a-z]+$/i.test(word);
}

function withoutPlural(word: string): string {
  if (word.endsWith('sses')) return word.slice(0, -2);
  if (/ie[sd]$/.test(word)) return word.slice(0, word.length > 4 ? -2 : -1);
  if (!word.endsWith('s') || /[us]s$/.test(word)) return word;
  return hasVowel(word.slice(0, -2)) ? word.slice(0, -1) : word;
}

function withoutTense(word: string): string {
  if (/eed(ly)?$/.test(word)) {
    const stem = word.replace(/ly$/, '').slice(0, -1);
    return regionAfter(word, 0) <= stem.length - 2 ? stem : word;
  }
  const stem = word.replace(/(ed|ing)(ly)?$/, '');
  if (stem === word || !hasVowel(stem)) return word;
  if (/(at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (/(bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(stem)) return stem.slice(0, -1);
  return regionAfter(stem, 0) >= stem.length && endsShort(stem) ? `${stem}e` : stem;
}

/** `cry` and `cries` end alike; `say` and `by` stay. */
function withFinalI(word: string): string {
  const isAfterConsonant = word.length > 2 && word.endsWith('y') && !isVowel(word, word.length - 2);
  return isAfterConsonant ? `${word.slice(0, -1)}i` : word;
}

function withoutFinalE(word: string): string {
  const last = word.length - 1;
  const first = regionAfter(word, 0);
  const second = regionAfter(word, first);
  if (word.endsWith('e') && (last >= second || (last >= first && !endsShort(word.slice(0, -1))))) {
    return word.slice(0, -1);
  }
  return word.endsWith('ll') && last >= second ? word.slice(0, -1) : word;
}

/** Where the region behind the first consonant that follows a vowel begins; the length of the word where there is none. */
function regionAfter(word: string, from: number): number {
  for (let at = from + 1; at < word.length; at += 1) {
    if (!isVowel(word, at) && isVowel(word, at - 1)) return at + 1;
  }
  return word.length;
}

/** It ends in one consonant after one vowel, as `hop` and `at` do, so that an `e` behind it is heard. */
function endsShort(word: string): boolean {
  const end = word.length - 1;
  if (end < 1 || isVowel(word, end) || !isVowel(word, end - 1)) return false;
  return end === 1 || (!/[wxy]$/.test(word) && !isVowel(word, end - 2));
}

function hasVowel(text: string): boolean {
  return Array.from(text, (_, at) => isVowel(text, at)).includes(true);
}

/** A `y` is one, but at the beginning and after a vowel. */
function isVowel(word: string, at: number): boolean {
  const letter = word[at] ?? '';
  if (letter === 'y') return at > 0 && !isVowel(word, at - 1);
  return 'aeiou'.includes(letter);
}
