import type { Instant } from '../../base/clock.ts';
import type { ArtifactEntry } from '../../model/artifact.ts';
import type { StoredEvent } from '../../model/event.ts';
import type { AgentName, ArtifactId, ContextId, Fence, MessageId, Seq, TurnNo, WorkerNo } from '../../model/ids.ts';
import type { JournalEntry } from '../../model/journal.ts';
import type { Run } from '../../model/run.ts';
import type { Scope } from '../../model/scope.ts';
import type { Session } from '../../model/session.ts';
import type { Task } from '../../model/task.ts';
import type { Fingerprint } from '../../model/task-write.ts';
import type { Turn } from '../../model/turn.ts';
import type { ArtifactEvent, SpeechEvent } from '../content.ts';
import type { KnownMessage } from '../contract.ts';
import { ScopedMemories } from './scoped-memories.ts';

/*
 * What stands in for tables. Every value in a record is frozen and replaced, never changed, so that it can be
 * given out as it is; only the record itself changes, in the one synchronous stretch that applies a write.
 */

/** A task and all that hangs on it. */
export interface TaskRecord {
  task: Task;
  readonly session: SessionRecord;
  readonly log: StoredEvent[];
  /** Messages and statuses, which make the history. */
  readonly speech: SpeechEvent[];
  /** In the order of their opening. This map and the journal are made when they are needed: most tasks are many and small. */
  artifacts: Map<ArtifactId, ArtifactRecord> | undefined;
  runs: readonly Run[];
  activeRun: Run | undefined;
  turns: readonly TurnRecord[];
  journal: Map<TurnNo, Map<string, JournalEntry>> | undefined;
  /** Whether any event carries bytes, which are copied for each reader. */
  holdsBytes: boolean;
}

export interface ArtifactRecord {
  entry: ArtifactEntry;
  /** The updates from `entry.baseSeq` on. */
  chunks: ArtifactEvent[];
}

export interface TurnRecord {
  readonly turn: Turn;
  readonly input?: Uint8Array;
}

export interface SessionRecord {
  readonly session: Session;
  state: Map<string, string> | undefined;
}

export interface WorkerRecord {
  leaseUntil: Instant;
  dead: boolean;
}

/** What is remembered under a message id. */
export type MessageRow = { readonly fingerprint: Fingerprint } & (
  | { readonly state: 'executing'; readonly workerNo: WorkerNo; readonly fence: Fence }
  | { readonly state: 'task'; readonly record: TaskRecord; readonly turnNo: TurnNo; readonly messageSeq: Seq }
  | { readonly state: 'reply'; readonly reply: string; readonly expiresAt: Instant }
);

export function knownMessage(row: MessageRow): KnownMessage {
  const { fingerprint } = row;
  if (row.state === 'executing') return { fingerprint, state: 'executing' };
  if (row.state === 'reply') return { fingerprint, state: 'reply', reply: row.reply };
  const { id: taskId, no: taskNo } = row.record.task;
  return { fingerprint, state: 'task', taskId, taskNo, turnNo: row.turnNo, messageSeq: row.messageSeq };
}

/** The rows of one agent in one scope. */
export class ScopeRecord {
  readonly agent: AgentName;
  readonly scope: Scope;
  readonly sessions = new Map<ContextId, SessionRecord>();
  readonly tasks: TaskRecord[] = [];
  readonly messages = new Map<MessageId, MessageRow>();
  readonly memories = new ScopedMemories();
  readonly #replies = new Map<MessageId, MessageRow & { readonly state: 'reply' }>();

  constructor(agent: AgentName, scope: Scope) {
    this.agent = agent;
    this.scope = scope;
  }

  /** What is remembered of a message. A reply that was kept its time counts as unknown. */
  known(messageId: MessageId, now: Instant): MessageRow | undefined {
    const row = this.messages.get(messageId);
    return row?.state === 'reply' && row.expiresAt <= now ? undefined : row;
  }

  keepReply(messageId: MessageId, row: MessageRow & { readonly state: 'reply' }): void {
    this.messages.set(messageId, row);
    this.#replies.delete(messageId);
    this.#replies.set(messageId, row);
  }

  /** Deletes replies whose time is over, up to the first that is not: they stand in the order of their writing. */
  dropExpired(now: Instant): void {
    for (const [messageId, row] of this.#replies) {
      if (row.expiresAt > now) return;
      this.#replies.delete(messageId);
      // A task may stand under the id by now.
      if (this.messages.get(messageId) === row) this.messages.delete(messageId);
    }
  }
}
