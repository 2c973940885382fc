import type { Logger } from '../base/log.ts';
import type { MessageId } from '../model/ids.ts';
import type { BlobPart, Message, Part } from '../model/message.ts';
import type { Grant, TurnMaterial } from '../store/contract.ts';
import { uuidOf } from './content-digest.ts';
import type { Emitter } from './emitter.ts';
import type { Journal } from './journal.ts';
import type { RuntimeParts } from './ports.ts';
import type { RunPhase } from './run-phase.ts';
import type { StepScope } from './step-scope.ts';

/** What the parts of a live turn share. */
export interface RunContext {
  readonly parts: RuntimeParts;
  readonly grant: Grant;
  readonly material: TurnMaterial;
  readonly phase: RunPhase;
  readonly emitter: Emitter;
  readonly journal: Journal;
  readonly scope: StepScope;
  readonly signal: AbortSignal;
  /** Fires when the lease is lost; what the handler wrote before its end is written until then. */
  readonly lost: AbortSignal;
  readonly log: Logger;
  /** `storeContent: false`: no text and no bytes of the author's go into the log. */
  readonly keepsContent: boolean;
  /** Ids of the messages that the log already holds. */
  readonly knownMessages: ReadonlySet<MessageId>;
  /** Ends the run as failed, whatever the handler does: its writes can no longer be trusted to be whole. */
  fail(error: unknown): void;
}

/** An id that is the same in every run of the turn. */
export function turnId(grant: Grant, ...words: readonly (string | number)[]): string {
  return uuidOf([grant.taskId, grant.turn.turnNo, ...words]);
}

/**
 * A message of the agent. Its id is a digest of the turn, its kind and its place, so that a later run which says the
 * same again finds it in the log.
 */
export function agentMessage(grant: Grant, place: readonly (string | number)[], parts: readonly Part[]): Message {
  return { messageId: turnId(grant, ...place) as MessageId, role: 'agent', parts };
}

/** Ids of all messages of a turn's material. */
export function messageIdsOf({ content }: TurnMaterial): ReadonlySet<MessageId> {
  const ids = new Set(content.history.map((message) => message.messageId));
  if (content.statusMessage !== undefined) ids.add(content.statusMessage.messageId);
  return ids;
}

/** Whether the turn's handler can have a blob from its own task: from a message or from an artifact. */
export function holdsBlob({ content, message }: TurnMaterial, blob: BlobPart): boolean {
  const held = [message.message, ...content.history, ...content.artifacts].flatMap(({ parts }) => parts);
  return held.some(
    (part) =>
      part.kind === 'blob' && part.blobNo === blob.blobNo && part.bytes === blob.bytes && part.sha256 === blob.sha256,
  );
}
