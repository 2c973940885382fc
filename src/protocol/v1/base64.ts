const PADDING = 0x3d; // =
const WHITE_SPACE = /[ \t\r\n]+/g;

/**
 * Bytes of a base64 text in either alphabet, with or without padding, wrapped or not (ProtoJSON reads all of these).
 * Undefined when the text is not base64.
 */
export function decodeBase64(text: string): Uint8Array | undefined {
  // Node's decoder takes the low byte of a character: beyond ASCII nonsense would decode to other nonsense.
  if (Buffer.byteLength(text, 'utf8') !== text.length) return undefined;
  return decodeUnwrapped(text) ?? decodeWrapped(text);
}

/** An upper bound of the decoded size, known before anything is decoded. */
export function decodedBytesMax(text: string): number {
  return Math.floor((significantChars(text) * 3) / 4);
}

function decodeWrapped(text: string): Uint8Array | undefined {
  const unwrapped = text.replace(WHITE_SPACE, '');
  return unwrapped.length === text.length ? undefined : decodeUnwrapped(unwrapped);
}

/** Node skips what it cannot read, so each foreign character shows as a byte that is missing in the end. */
function decodeUnwrapped(text: string): Uint8Array | undefined {
  const chars = significantChars(text);
  if (chars % 4 === 1) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === Math.floor((chars * 3) / 4) ? bytes : undefined;
}

function significantChars(text: string): number {
  let end = text.length;
  while (end > 0 && text.length - end < 2 && text.charCodeAt(end - 1) === PADDING) end -= 1;
  return end;
}
