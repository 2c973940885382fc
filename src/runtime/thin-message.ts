import type { Json, JsonObject } from '../base/json.ts';
import type { Message, Part } from '../model/message.ts';
import { partsJson, partsOf } from './message-text.ts';
import type { Secrets } from './ports.ts';

/*
 * Agents with `storeContent: false` keep rows thin: the log holds who wrote when and which kinds of parts, and what was
 * written lives encrypted in the turn until it settles.
 */

/** What stands in the log of such an agent: ids, role and kinds of parts. */
export function withholdContent(message: Message): Message {
  const { metadata: _, ...kept } = message;
  return { ...kept, parts: message.parts.map(withhold) };
}

function withhold(part: Part): Part {
  if (part.kind === 'withheld') return part;
  return { kind: 'withheld', of: part.kind === 'blob' ? 'raw' : part.kind };
}

/** What was withheld, encrypted, for the turn's input row. */
export function sealContent(secrets: Secrets, message: Message): Uint8Array {
  const content = {
    parts: partsJson(message.parts),
    ...(message.metadata === undefined ? {} : { metadata: message.metadata }),
  };
  return secrets.seal(Buffer.from(JSON.stringify(content), 'utf8'));
}

/** The message as it was sent: the one in the log with its content put back from the turn's input row. */
export function openContent(secrets: Secrets, stored: Message, sealed: Uint8Array): Message {
  const text = Buffer.from(secrets.open(sealed)).toString('utf8');
  const content = JSON.parse(text) as { readonly parts: readonly Json[]; readonly metadata?: JsonObject };
  return {
    ...stored,
    parts: partsOf(content.parts),
    ...(content.metadata === undefined ? {} : { metadata: content.metadata }),
  };
}
