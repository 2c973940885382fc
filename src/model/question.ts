import { assert } from '../base/assert.ts';
import type { JsonObject } from '../base/json.ts';
import type { JournalEntry } from './journal.ts';
import type { Part } from './message.ts';

/**
 * What an open `ask` or `authorize` wants of the caller, as it is stored in the journal and shown on the wire.
 * `schema` is the flat JSON Schema subset that MCP elicitation uses: one primitive, or an object of primitives.
 */
export interface Question {
  readonly kind: 'ask' | 'authorize';
  /** The journal key; opaque to clients, which send it back as `askId`. */
  readonly askId: string;
  readonly text: string;
  readonly schema?: JsonObject;
  /** `authorize`: the scheme and where to sign in. */
  readonly scheme?: string;
  readonly url?: string;
}

/** The question as the journal keeps it. */
export function questionJson(question: Question): JsonObject {
  return { ...question };
}

/** The question of an `ask` or `authorize` row. */
export function questionOf(entry: JournalEntry): Question {
  assert(entry.question !== undefined, 'an open suspension of the caller has its question');
  return entry.question as unknown as Question;
}

/** What the caller sees: a text part that reads alone, and a data part for programs. */
export function questionParts(question: Question, expiresAt?: string): readonly Part[] {
  const data: Record<string, string | JsonObject> = { askId: question.askId };
  if (question.schema !== undefined) data.schema = question.schema;
  if (question.scheme !== undefined) data.scheme = question.scheme;
  if (question.url !== undefined) data.url = question.url;
  if (expiresAt !== undefined) data.expiresAt = expiresAt;
  return [
    { kind: 'text', text: question.text },
    { kind: 'data', data },
  ];
}
