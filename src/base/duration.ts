/** A length of time with its unit, as authors write it: `'12h'`, `'30s'`, `'7d'`. A bare number does not compile. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const PATTERN = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** Milliseconds of a duration. Throws `RangeError` that shows the text when it has no known unit. */
export function durationMs(text: Duration): number {
  const match = PATTERN.exec(text);
  if (!match) throw new RangeError(`"${text}" is not a duration; write a number and a unit, such as "12h"`);
  return Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
}
