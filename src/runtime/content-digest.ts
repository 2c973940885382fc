import { hash, webcrypto } from 'node:crypto';
import { limits } from '../base/limits.ts';

/** Lower-case hex SHA-256. Large inputs are digested off the event loop: 8 MiB would hold it for tens of milliseconds. */
export async function digestBytes(bytes: Uint8Array): Promise<string> {
  if (bytes.length <= limits.inlineRawBytesMax) return hash('sha256', bytes, 'hex');
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString('hex');
}

/** A UUID that is the same for the same words: version 8 (RFC 9562 §5.8) over their SHA-256. */
export function uuidOf(words: readonly (string | number)[]): string {
  const hex = hash('sha256', JSON.stringify(words), 'hex');
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
