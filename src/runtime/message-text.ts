import { isJsonObject, type Json } from '../base/json.ts';
import type { Message, Part } from '../model/message.ts';

/** A message as JSON text: bytes in base64, everything else as it is. Read back by `parseMessage`. */
export function formatMessage(message: Message): string {
  return JSON.stringify({ ...message, parts: partsJson(message.parts) });
}

export function parseMessage(text: string): Message {
  const read = JSON.parse(text) as Message;
  return { ...read, parts: partsOf(read.parts as unknown as readonly Json[]) };
}

/** Parts as JSON; `partsOf` is its inverse. */
export function partsJson(parts: readonly Part[]): readonly Json[] {
  return parts.map((part) =>
    part.kind === 'raw' ? { ...part, raw: Buffer.from(part.raw).toString('base64') } : { ...part },
  ) as unknown as readonly Json[];
}

export function partsOf(values: readonly Json[]): readonly Part[] {
  return values.map((value) => {
    const isRaw = isJsonObject(value) && value.kind === 'raw';
    return (isRaw ? { ...value, raw: Uint8Array.from(Buffer.from(String(value.raw), 'base64')) } : value) as Part;
  });
}
