/** A length of time with its unit, as authors write it: `'12h'`, `'30s'`, `'7d'`. A bare number does not compile. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const PATTERN = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** A century: what is added to a date within it is a date that can be written. */
const MAX_DAYS = 36_525;

/** Milliseconds of a duration. Throws `RangeError` that shows the text when it has no known unit, or is beyond a century. */
export function durationMs(text: Duration): number {
  const match = PATTERN.exec(text);
  if (!match) throw new RangeError(`"${text}" is not a duration; write a number and a unit, such as "12h"`);
  const ms = Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
  if (ms > MAX_DAYS * UNIT_MS.d) throw new RangeError(`"${text.slice(0, 40)}" is too long; ${MAX_DAYS}d is the most`);
  return ms;
}
