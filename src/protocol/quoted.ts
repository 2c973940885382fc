const QUOTED_CHARS_MAX = 40;

/** A caller's text inside an error message: quoted, on one line, cut to 40 characters. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > QUOTED_CHARS_MAX ? `${text.slice(0, QUOTED_CHARS_MAX)}…` : text);
}
