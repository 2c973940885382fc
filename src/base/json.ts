/** A JSON value. Objects keep the order in which their keys were written. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value as JSON gives it back, which shares nothing with it; undefined for what JSON has no word for. */
export function jsonCopy(value: unknown): Json | undefined {
  try {
    const text: string | undefined = JSON.stringify(value);
    return text === undefined ? undefined : (JSON.parse(text) as Json);
  } catch {
    return undefined;
  }
}

/** The same text for equal values, whatever the order of their keys. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item as Json)).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as Json)}`).join(',')}}`;
}

/** How deep the arrays and objects of a JSON text are nested, and about how many values it holds. */
export interface JsonShape {
  readonly depth: number;
  readonly values: number;
}

/**
 * The shape of a JSON text, found without parsing it. A parser that recurses could be made to overflow by 20,000
 * brackets, and a loop be held for seconds by a million keys; this cannot.
 */
export function jsonShape(text: string): JsonShape {
  let depth = 0;
  let deepest = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === 0x22) at = endOfString(text, at);
    else if (char === 0x5b || char === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (char === 0x5d || char === 0x7d) depth -= 1;
    else if (char === 0x2c) values += 1;
  }
  return { depth: deepest, values };
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; ) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let escapes = 0;
    while (text.charCodeAt(quote - 1 - escapes) === 0x5c) escapes += 1;
    if (escapes % 2 === 0) return quote;
    at = quote + 1;
  }
}
