import { type Instant, instant } from '../../base/clock.ts';

const RFC_3339 =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$/;
const YEAR_1_MS = -62_135_596_800_000;
const YEAR_10000_MS = 253_402_300_800_000;

/**
 * The instant of an RFC 3339 text, from year 1 to 9999, in any offset; undefined when it is none. Days that do not exist are none.
 * What is finer than a millisecond is rounded up, so that "not before this time" never lets an earlier one in.
 */
export function parseTimestamp(text: string): Instant | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const offsetMinutes = offsetOf(match);
  if (hour > 23 || minute > 59 || second > 59 || day > daysIn(year, month) || day < 1) return undefined;
  if (offsetMinutes === undefined) return undefined;
  const wholeMs = Date.parse(`${text.slice(0, 19)}Z`) - offsetMinutes * 60_000;
  const epochMs = wholeMs + Math.ceil(Number((match[7] ?? '').padEnd(9, '0')) / 1_000_000);
  return wholeMs >= YEAR_1_MS && wholeMs < YEAR_10000_MS ? instant(epochMs) : undefined;
}

function offsetOf(match: RegExpExecArray): number | undefined {
  const [sign, hours, minutes] = [match[8], Number(match[9]), Number(match[10])];
  if (sign === undefined) return 0;
  if (hours > 23 || minutes > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (hours * 60 + minutes);
}

/** 0 for a month that does not exist. */
function daysIn(year: number, month: number): number {
  if (month < 1 || month > 12) return 0;
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}
