import { canonicalJson, type Json } from '../base/json.ts';
import type { Artifact } from '../model/artifact.ts';
import type { Part, TextPart } from '../model/message.ts';

/** What an append or a close has to write; undefined when the log holds it already. */
export interface ArtifactUpdate {
  /** False: opens the artifact, or replaces it whole, and so brings its header. */
  readonly append: boolean;
  readonly parts: readonly Part[];
  readonly lastChunk: boolean;
}

/** Digests of raw parts that are too large to stand in the log, for comparing them with their blobs. */
export type RawDigests = ReadonlyMap<Part, string>;

const CLOSING_PART: Part = { kind: 'text', text: '' };

/**
 * Writes an artifact over what earlier runs of the turn left of it. As long as the handler says the same, nothing is
 * written; where the log ends, its rest follows; where the handler says something else, the artifact is replaced once,
 * by all that was said so far. How the text was cut into chunks does not matter.
 */
export class ArtifactReplay {
  #logged: readonly Part[];
  #isClosed: boolean;
  /** `unopened`: the log does not know it. `following`: so far it was the same. `writing`: the log is behind us. */
  #state: 'unopened' | 'following' | 'writing';
  /** Place in the logged parts. */
  #part = 0;
  #char = 0;

  constructor(logged: Artifact | undefined) {
    this.#logged = logged?.parts ?? [];
    this.#isClosed = logged?.closedSeq !== undefined;
    this.#state = logged === undefined ? 'unopened' : 'following';
  }

  get isFollowing(): boolean {
    return this.#state === 'following';
  }

  append(parts: readonly Part[], lastChunk: boolean, digests: RawDigests = new Map()): ArtifactUpdate | undefined {
    const said = parts.filter((part) => !isEmptyText(part));
    if (said.length === 0) return lastChunk ? this.close() : undefined;
    if (this.#state === 'following') return this.#follow(said, lastChunk, digests);
    const append = this.#state === 'writing';
    this.#state = 'writing';
    return { append, parts: joinTexts(said), lastChunk };
  }

  close(): ArtifactUpdate | undefined {
    const { append, parts } = this.#ending();
    if (this.#state === 'following' && append && this.#isClosed) return undefined;
    this.#write();
    return { append, parts: parts.length > 0 ? parts : [CLOSING_PART], lastChunk: true };
  }

  #ending(): { readonly append: boolean; readonly parts: readonly Part[] } {
    if (this.#state !== 'following') return { append: this.#state === 'writing', parts: [] };
    return this.#isAtEnd() ? { append: true, parts: [] } : { append: false, parts: this.#saidSoFar() };
  }

  #follow(said: readonly Part[], lastChunk: boolean, digests: RawDigests): ArtifactUpdate | undefined {
    const rest = this.#skip(said, digests);
    if (rest.length === 0) return lastChunk ? this.close() : undefined;
    const goesOn = this.#isAtEnd() && !this.#isClosed;
    const parts = joinTexts(goesOn ? rest : [...this.#saidSoFar(), ...rest]);
    this.#write();
    return { append: goesOn, parts, lastChunk };
  }

  /** Steps over what the log holds, and gives what it does not. */
  #skip(said: readonly Part[], digests: RawDigests): readonly Part[] {
    for (let index = 0; index < said.length; index += 1) {
      const part = said[index] as Part;
      const rest = part.kind === 'text' ? this.#skipText(part) : this.#skipWhole(part, digests) ? undefined : part;
      if (rest !== undefined) return [rest, ...said.slice(index + 1)];
    }
    return [];
  }

  #skipText(part: TextPart): TextPart | undefined {
    let text = part.text;
    while (text !== '') {
      const logged = this.#next();
      if (logged?.kind !== 'text' || !sameCommon(logged, part)) break;
      const chars = Math.min(text.length, logged.text.length - this.#char);
      const same = commonPrefix(text, logged.text.slice(this.#char, this.#char + chars));
      this.#char += same;
      text = text.slice(same);
      if (same < chars) break;
    }
    return text === '' ? undefined : { ...part, text };
  }

  #skipWhole(part: Part, digests: RawDigests): boolean {
    const logged = this.#next();
    if (logged === undefined || this.#char > 0 || !sameContent(logged, part, digests)) return false;
    this.#part += 1;
    return true;
  }

  /** The logged part that comes next; a text that was stepped over to its end is behind us. */
  #next(): Part | undefined {
    for (let logged = this.#logged[this.#part]; logged !== undefined; logged = this.#logged[this.#part]) {
      if (logged.kind !== 'text' || this.#char < logged.text.length) return logged;
      this.#part += 1;
      this.#char = 0;
    }
    return undefined;
  }

  #isAtEnd(): boolean {
    return this.#next() === undefined;
  }

  #saidSoFar(): readonly Part[] {
    const whole = this.#logged.slice(0, this.#part);
    const cut = this.#logged[this.#part];
    const begun = cut?.kind === 'text' && this.#char > 0 ? [{ ...cut, text: cut.text.slice(0, this.#char) }] : [];
    return joinTexts([...whole, ...begun].filter((part) => !isEmptyText(part)));
  }

  /** From here on the log is behind us, and what was kept for comparing may go. */
  #write(): void {
    this.#state = 'writing';
    this.#logged = [];
  }
}

function isEmptyText(part: Part): boolean {
  return part.kind === 'text' && part.text === '';
}

/** Neighbouring texts of one kind as one part. */
function joinTexts(parts: readonly Part[]): readonly Part[] {
  if (parts.length < 2) return parts;
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.kind === 'text' && last?.kind === 'text' && sameCommon(last, part)) {
      joined[joined.length - 1] = { ...last, text: last.text + part.text };
    } else joined.push(part);
  }
  return joined;
}

/** Never between the halves of one character: a surrogate alone is no text. */
function commonPrefix(one: string, other: string): number {
  if (one.startsWith(other)) return other.length;
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length += 1;
  const before = one.charCodeAt(length - 1);
  return length > 0 && before >= 0xd800 && before < 0xdc00 ? length - 1 : length;
}

function sameCommon(one: Part, other: Part): boolean {
  return (
    one.mediaType === other.mediaType &&
    one.filename === other.filename &&
    canonicalJson(one.metadata ?? null) === canonicalJson(other.metadata ?? null)
  );
}

function sameContent(logged: Part, part: Part, digests: RawDigests): boolean {
  if (!sameCommon(logged, part)) return false;
  if (logged.kind === 'blob') {
    const sha256 = part.kind === 'blob' ? part.sha256 : digests.get(part);
    return sha256 === logged.sha256;
  }
  if (logged.kind === 'raw') return part.kind === 'raw' && Buffer.compare(logged.raw, part.raw) === 0;
  return logged.kind === part.kind && canonicalJson(asJson(logged)) === canonicalJson(asJson(part));
}

function asJson(part: Part): Json {
  return JSON.parse(JSON.stringify(part)) as Json;
}
