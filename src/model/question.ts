import type { JsonObject } from '../base/json.ts';

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
