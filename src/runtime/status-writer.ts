import { ownParts } from '../agent/parts.ts';
import { canonicalJson, type Json } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import type { Part } from '../model/message.ts';
import { contentNotKept } from './artifact-writer.ts';
import { partsBytes } from './event-bytes.ts';
import { agentMessage, type RunContext } from './run-context.ts';

const EVENT_BYTES = 128;

/**
 * Words for the client while the task works. What earlier runs of the turn said is not said again: the message id is a
 * digest of the words and their occurrence, and the log holds it already.
 */
export class StatusWriter {
  readonly #context: RunContext;
  readonly #occurrences = new Map<string, number>();

  constructor(context: RunContext) {
    this.#context = context;
  }

  async write(said: string | { readonly data: Json }): Promise<void> {
    const { grant, keepsContent, knownMessages, emitter } = this.#context;
    if (typeof said === 'string' && !keepsContent) throw contentNotKept('turn.status');
    const words = typeof said === 'string' ? said : canonicalJson(said.data);
    const occurrence = (this.#occurrences.get(words) ?? 0) + 1;
    this.#occurrences.set(words, occurrence);
    const part: Part =
      typeof said === 'string' ? { kind: 'text', text: shorten(said) } : { kind: 'data', data: said.data };
    const message = agentMessage(grant, ['status', words, occurrence], ownParts([part], 'turn.status'));
    if (knownMessages.has(message.messageId)) return;
    const bytes = EVENT_BYTES + partsBytes(message.parts);
    await emitter.emit({
      facts: [{ kind: 'event', event: { kind: 'status-changed', state: 'working', message } }],
      bytes,
    });
  }
}

/** Text for a status: cut where it is longer than anybody reads. */
export function shorten(text: string): string {
  if (text.length <= limits.errorTextCharsMax) return text;
  return `${text.slice(0, limits.errorTextCharsMax - 1).toWellFormed()}…`;
}
