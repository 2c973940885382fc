import type { Part } from '../model/message.ts';
import { AgentCodeError } from './errors.ts';

/**
 * Refuses parts that nobody could read back. They come from authors' code, and types bind no JavaScript and no cast:
 * one bad part that is stored would make its whole task unreadable for ever.
 */
export function checkParts(parts: readonly Part[], where: string): void {
  for (const [index, part] of parts.entries()) {
    const fault = faultOf(part);
    if (fault !== undefined)
      throw new AgentCodeError('output', `${where} was given a part that is none: [${index}] ${fault}.`);
  }
}

function faultOf(part: unknown): string | undefined {
  if (typeof part !== 'object' || part === null) return 'is no object';
  const { kind, text, raw, url, data } = part as Readonly<Record<string, unknown>>;
  switch (kind) {
    case 'text':
      return typeof text === 'string' ? undefined : 'has a "text" that is no text';
    case 'raw':
      return raw instanceof Uint8Array ? undefined : 'has a "raw" that is no Uint8Array';
    case 'url':
      return typeof url === 'string' ? undefined : 'has a "url" that is no text';
    case 'data':
      return data === undefined || typeof data === 'function' || typeof data === 'symbol'
        ? 'has a "data" that is no JSON'
        : undefined;
    case 'blob':
    case 'withheld':
      return undefined;
    default:
      return 'has no "kind" of text, raw, url and data';
  }
}
