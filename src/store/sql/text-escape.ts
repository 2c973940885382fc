/*
 * A database's text holds no half of a surrogate pair, and PostgreSQL's no U+0000; a client's text may. Every text
 * that goes in is escaped and every text that comes out is unescaped, so no caller needs to know, and equal texts stay
 * equal. Payloads are JSON, which has escapes of its own for all of these: for them this costs one scan and no copy.
 */

/** Introduces an escape; itself written as an escape. A control character, so ordinary text never holds one. */
const ESCAPE = '\u001a';
const UNSTORABLE = /[\u0000\u001a]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const ESCAPED = /\u001a([0-9a-f]{4})/g;

/** A text that any database takes, different for different texts. */
export function escapeText(text: string): string {
  if (!text.includes('\u0000') && !text.includes(ESCAPE) && text.isWellFormed()) return text;
  return text.replace(UNSTORABLE, (unit) => ESCAPE + unit.charCodeAt(0).toString(16).padStart(4, '0'));
}

/** The text that `escapeText` was given. */
export function unescapeText(stored: string): string {
  if (!stored.includes(ESCAPE)) return stored;
  return stored.replace(ESCAPED, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
