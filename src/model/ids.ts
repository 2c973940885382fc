import type { Brand } from '../base/brand.ts';
import { fieldError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';

export type TaskId = Brand<string, 'TaskId'>;
export type RunId = Brand<string, 'RunId'>;
export type ContextId = Brand<string, 'ContextId'>;
export type ThreadId = Brand<string, 'ThreadId'>;
export type MessageId = Brand<string, 'MessageId'>;
export type ArtifactId = Brand<string, 'ArtifactId'>;
/** The name by which a tenant field or an agent route finds an agent. */
export type AgentName = Brand<string, 'AgentName'>;
export type WorkerId = Brand<string, 'WorkerId'>;

/** Row numbers of the store; they never leave it towards a client. */
export type TaskNo = Brand<number, 'TaskNo'>;
export type SessionNo = Brand<number, 'SessionNo'>;
export type RunNo = Brand<number, 'RunNo'>;
export type WorkerNo = Brand<number, 'WorkerNo'>;
export type BlobNo = Brand<number, 'BlobNo'>;
/** A turn's place in its task: 1, 2, 3 … */
export type TurnNo = Brand<number, 'TurnNo'>;
/** An event's place in its task's log: 1, 2, 3 … */
export type Seq = Brand<number, 'Seq'>;
/** The fencing token in the task row; it grows with each grant and each revocation. */
export type Fence = Brand<number, 'Fence'>;

/** Printable: no control characters, no lone surrogates, no line separators. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;
const AGENT_NAME = /^[a-z0-9-]{1,63}$/;

/** The one door for an id that a client chose: 1–256 printable characters. Throws InvalidParams naming `field`. */
export function parseId<Id extends string>(text: string, field: string): Id {
  const fault = idFault(text);
  if (fault !== undefined) throw fieldError(field, fault);
  return text as Id;
}

/** What is wrong with an id, for doors that collect several faults before they refuse; undefined when it is fine. */
export function idFault(text: string): string | undefined {
  if (text.length === 0) return 'must not be empty';
  if (text.length > limits.idCharsMax) return `must have at most ${limits.idCharsMax} characters`;
  return UNPRINTABLE.test(text) ? 'must be printable text' : undefined;
}

/** Refuses a key that no database would index; throws InvalidParams naming `field`. Any characters will do. */
export function checkKey(text: string, field: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= limits.keyBytesMax) return;
  throw fieldError(field, `must have at most ${limits.keyBytesMax} bytes in UTF-8; this one has ${bytes}`);
}

/** An agent's name is a routing name too: `[a-z0-9-]{1,63}`, and not `tasks`, which REST routes use. */
export function isAgentName(text: string): text is AgentName {
  return AGENT_NAME.test(text) && text !== 'tasks';
}
