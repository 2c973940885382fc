import type { Seq } from './ids.ts';

/**
 * A reader's place in one task's log, opaque to clients: `<incarnation>-<seq>`. The incarnation tells a log
 * that was restored from a backup, or failed over, from the one the reader saw.
 */
export interface Cursor {
  readonly incarnation: string;
  readonly seq: Seq;
}

const CURSOR = /^([A-Za-z0-9]{1,40})-(0|[1-9][0-9]{0,15})$/;

export function formatCursor(cursor: Cursor): string {
  return `${cursor.incarnation}-${cursor.seq}`;
}

/** The cursor a client sent back, or undefined when it is not one of ours. */
export function parseCursor(text: string): Cursor | undefined {
  const match = CURSOR.exec(text);
  const seq = Number(match?.[2]);
  if (match?.[1] === undefined || !Number.isSafeInteger(seq)) return undefined;
  return { incarnation: match[1], seq: seq as Seq };
}
