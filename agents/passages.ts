/** A piece of a document that reads alone, and where it stands. */
export interface Passage {
  readonly text: string;
  /** Of its first line, from 1. */
  readonly line: number;
  /** The nearest heading above or at its first line. */
  readonly heading?: string;
}

/** Shorter pieces join what follows them; longer ones are cut. Short enough to quote, long enough to mean something alone. */
const CHARS_MIN = 200;
const CHARS_MAX = 1_200;

/**
 * Cuts a text into passages of 200 to 1,200 characters: at headings first, then between paragraphs, then between lines,
 * sentences and words. Every word of the text is in exactly one passage, in order; a text shorter than that is one.
 */
export function splitPassages(text: string): readonly Passage[] {
  const passages: Passage[] = [];
  for (const block of blocksOf(text).flatMap(cutBlock)) {
    const last = passages.at(-1);
    if (last !== undefined && joins(last, block)) passages[passages.length - 1] = join(last, block);
    else passages.push({ ...block });
  }
  return joinShortEnd(passages).map(({ text, line, heading }) => ({
    text: text.trim(),
    line,
    ...(heading === undefined ? {} : { heading }),
  }));
}

interface Block extends Passage {
  /** It begins with its own heading: what is above is another matter. */
  readonly opens: boolean;
}

function joins(last: Passage, block: Block): boolean {
  if (last.text.length + block.text.length + 2 > CHARS_MAX) return false;
  return block.opens ? last.text.length < CHARS_MIN : true;
}

function join(last: Passage, block: Passage): Passage {
  return { ...last, text: `${last.text}\n\n${block.text}` };
}

function joinShortEnd(passages: readonly Passage[]): readonly Passage[] {
  const [before, end] = [passages.at(-2), passages.at(-1)];
  if (before === undefined || end === undefined || end.text.length >= CHARS_MIN) return passages;
  if (before.text.length + end.text.length + 2 > CHARS_MAX) return passages;
  return [...passages.slice(0, -2), join(before, end)];
}

/** Paragraphs, and headings with the paragraph under them; a fenced block is one paragraph whatever stands in it. */
function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let heading: string | undefined;
  let open: { lines: string[]; readonly line: number; readonly opens: boolean } | undefined;
  let fence: string | undefined;
  const close = () => {
    const block = open;
    open = undefined;
    if (block === undefined || block.lines.every((line) => line.trim() === '')) return;
    const { line, opens } = block;
    blocks.push({ text: block.lines.join('\n').trimEnd(), line, opens, ...(heading === undefined ? {} : { heading }) });
  };
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  for (const [index, line] of lines.entries()) {
    const title = fence === undefined ? headingAt(lines, index) : undefined;
    if (title !== undefined) {
      close();
      heading = title;
      open = { lines: [line], line: index + 1, opens: true };
      continue;
    }
    fence = fenceAfter(fence, line);
    const isGap = fence === undefined && line.trim() === '';
    if (isGap && !isBareHeading(open)) close();
    else if (open !== undefined) open.lines.push(line);
    else if (!isGap) open = { lines: [line], line: index + 1, opens: false };
  }
  close();
  return blocks;
}

/** A heading waits for the paragraph under it. */
function isBareHeading(open: { readonly lines: readonly string[]; readonly opens: boolean } | undefined): boolean {
  return open?.opens === true && open.lines.every((line, index) => index === 0 || /^(\s*|=+|-+)$/.test(line));
}

function headingAt(lines: readonly string[], index: number): string | undefined {
  const line = lines[index] ?? '';
  const marked = /^#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1];
  if (marked !== undefined && marked !== '') return marked;
  const isUnderlined = /^(={3,}|-{3,})\s*$/.test(lines[index + 1] ?? '');
  const startsBlock = index === 0 || (lines[index - 1] ?? '').trim() === '';
  return isUnderlined && startsBlock && /^\S/.test(line) && line.length <= 120 ? line.trim() : undefined;
}

function fenceAfter(fence: string | undefined, line: string): string | undefined {
  const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
  if (mark === undefined) return fence;
  if (fence === undefined) return mark;
  return mark.startsWith(fence) ? undefined : fence;
}

/** A block in pieces of at most the largest size, each cut at the best place in its second half. */
function cutBlock(block: Block): readonly Block[] {
  const pieces: Block[] = [];
  let { text, line } = block;
  while (text.length > CHARS_MAX) {
    const end = cutAt(text);
    const piece = text.slice(0, end);
    const rest = text.slice(end);
    const gap = rest.length - rest.trimStart().length;
    pieces.push({ ...block, text: piece.trimEnd(), line, opens: block.opens && pieces.length === 0 });
    line += (piece + rest.slice(0, gap)).split('\n').length - 1;
    text = rest.slice(gap);
  }
  if (text !== '') pieces.push({ ...block, text, line, opens: block.opens && pieces.length === 0 });
  return pieces;
}

function cutAt(text: string): number {
  const window = text.slice(0, CHARS_MAX);
  for (const boundary of [/\n/g, /[.!?…。！？]["')\]]?(\s|$)/g, /\s/g]) {
    let end = -1;
    for (const match of window.matchAll(boundary)) end = match.index + match[0].length;
    if (end > CHARS_MAX / 2) return end;
  }
  const code = window.charCodeAt(CHARS_MAX - 1);
  return code >= 0xd800 && code <= 0xdbff ? CHARS_MAX - 1 : CHARS_MAX;
}
