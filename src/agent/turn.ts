import type { Duration } from '../base/duration.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { Logger } from '../base/log.ts';
import type { Message, Part } from '../model/message.ts';
import type { Principal } from '../model/scope.ts';
import type { Schema, SchemaOutput } from './schema.ts';

/** A raw or url part of the message, as a handler wants it. */
export interface FilePart {
  readonly name?: string;
  readonly mediaType?: string;
  readonly metadata?: JsonObject;
  /** Present for a url part; its bytes are not fetched. */
  readonly url?: string;
  /** The bytes of a raw part; a url part throws. */
  bytes(): Promise<Uint8Array>;
}

/** What every handler gets. It may be passed around; nothing is ambient. */
export interface BaseTurn<Input> {
  /** The validated input: the first data part, else the text. */
  readonly input: Input;
  /** The text parts, joined by line breaks. */
  readonly text: string;
  readonly message: Message;
  readonly files: readonly FilePart[];
  readonly principal: Principal;
  /** The isolation key of the caller's rows. */
  readonly scope: string;
  readonly session: { readonly id: string; readonly threadId: string };
  /** Fires on cancel, deadline, drain and a lost lease. Hand it to whatever takes long. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Full-text memory of this agent in the caller's scope. In a reply its writes commit with the reply. */
  readonly memories: Memories;
}

/** A task skill's handler gets this: everything durable. */
export interface TaskTurn<Input> extends BaseTurn<Input> {
  readonly taskId: string;
  /** This run's number in the turn; a label, nothing counts on it. */
  readonly attempt: number;
  readonly fence: bigint;
  /** The task's messages before this turn's, oldest first. */
  readonly history: readonly Message[];
  /**
   * Runs `work` once and records what it returns; later runs of the turn get the record. Three tries with jitter, then
   * the error is the handler's. With `atMostOnce` there is one try: its error is recorded too, and
   * a step that had begun when a worker died throws `StepUnknown`.
   */
  step<Result>(
    name: string,
    work: (context: StepContext) => Promise<Storable<Result>> | Storable<Result>,
    options?: StepOptions,
  ): Promise<Result>;
  /** Waits without a worker, memory or timer held. Under 5 s it stays in place. */
  sleep(until: Duration | Date): Promise<void>;
  /** Asks the caller (INPUT_REQUIRED) and gives the answer; throws `Expired` or `Declined`. */
  ask(question: string): Promise<string>;
  ask<S extends Schema>(question: string, options: AskOptions & { readonly schema: S }): Promise<SchemaOutput<S>>;
  ask(question: string, options: AskOptions): Promise<string>;
  /** Asks the caller to sign in (AUTH_REQUIRED); settles when a message or native `/resume` clears it. */
  authorize(request: AuthorizeRequest): Promise<void>;
  /** Words for the client while the work goes on. An agent that keeps no content says ids instead, as `{ data }`. */
  status(message: string | { readonly data: Json }): Promise<void>;
  artifact(name: string, options?: ArtifactOptions): ArtifactWriter;
  /** Streams chunks into an artifact and gives their whole text. */
  pipe(name: string, chunks: AsyncIterable<string> | Iterable<string>, options?: ArtifactOptions): Promise<string>;
  /** Says that a long quiet stretch of work is still well: the idle deadline starts anew. */
  alive(): void;
  /** Stable over the attempts of this turn: an idempotency key for the outside world. */
  key(name: string): string;
  /** State of the session; writes commit with the turn's next events. */
  readonly state: {
    get(key: string): Promise<Json | undefined>;
    set(key: string, value: Json | undefined): void;
  };
  /** Runs when this run ends, however it ends (the `finally` of a parked handler does not). Last in, first out. */
  defer(cleanup: () => void | Promise<void>): void;
}

/** What a journal can keep: JSON and Date, Map, Set, bigint, bytes, URL, undefined. Not functions, symbols, promises. */
type Storable<T> = T extends (...args: never[]) => unknown ? never : T extends Promise<unknown> | symbol ? never : T;

export interface StepContext {
  /** Stable over attempts; hand it to the outside world. */
  readonly idempotencyKey: string;
  /** Fires when the run ends or the step's own timeout does. */
  readonly signal: AbortSignal;
  /** Try of this step in this run: 1, 2, 3. */
  readonly attempt: number;
}

export interface StepOptions {
  readonly retry?: { readonly attempts?: number; readonly backoff?: Duration };
  /** For one try. */
  readonly timeout?: Duration;
  readonly atMostOnce?: boolean;
}

export interface AskOptions {
  readonly schema?: Schema;
  readonly timeout?: Duration;
}

export interface AuthorizeRequest {
  readonly scheme: string;
  readonly url?: string;
  /** What to tell the caller; a sentence about the scheme by default. */
  readonly text?: string;
  readonly timeout?: Duration;
}

export interface ArtifactOptions {
  readonly mediaType?: string;
  readonly description?: string;
  readonly metadata?: JsonObject;
}

/** A chunk: text, bytes, JSON data or whole parts. */
export type Chunk = string | Uint8Array | { readonly data: Json } | { readonly url: string } | readonly Part[];

/** Writes one artifact. After a crash it is written from the top again: what the log holds is skipped. */
export interface ArtifactWriter {
  readonly artifactId: string;
  /** Resolves when the chunk is taken into the bounded buffer, not when it is durable. */
  append(chunk: Chunk, options?: { readonly last?: boolean }): Promise<void>;
  /** Resolves when everything so far is durable. */
  flush(): Promise<void>;
  /** Marks the end; resolves when durable. Closing twice is harmless. */
  close(): Promise<void>;
}

export interface MemoryPassage {
  readonly id: string;
  readonly text: string;
  readonly source?: string;
  readonly metadata?: JsonObject;
  readonly createdAt: Date;
}

export interface Memories {
  /** Under an `id` of a passage that is there it replaces that one, whose grants stay; without one it is a new passage. */
  remember(memory: {
    readonly id?: string;
    readonly text: string;
    readonly source?: string;
    readonly metadata?: JsonObject;
  }): Promise<{ readonly id: string }>;
  recall(
    query: string,
    options?: { readonly max?: number },
  ): Promise<readonly (MemoryPassage & { readonly rank: number })[]>;
  read(id: string): Promise<MemoryPassage | undefined>;
  /** Newest first, 100 at most; `before` goes on behind a passage. */
  list(options?: {
    readonly max?: number;
    readonly source?: string;
    readonly before?: string;
  }): Promise<readonly MemoryPassage[]>;
  forget(id: string): Promise<void>;
  /** Lets another scope read a passage; the reading side comes with isolation. */
  grant(id: string, to: string): Promise<void>;
}
