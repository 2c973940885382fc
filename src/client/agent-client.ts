import type { Clock } from '../base/clock.ts';
import type { Json, JsonObject } from '../base/json.ts';
import { isInterrupted, isTerminal, type TaskState } from '../model/task.ts';
import { decodeStreamResponse, decodeTask, type StreamItem } from '../protocol/v1/client-codec.ts';
import { ClientError } from './client-error.ts';
import { onlyFrame } from './stream-frames.ts';
import type { Frame, Operation, Transport } from './transport.ts';

/** How often a busy server is asked again, and how often a lost stream is taken up without a frame in between. */
const BUSY_TRIES_MAX = 3;
const RESUME_TRIES_MAX = 30;
const RESUME_WAITS_MS = [250, 500, 1_000, 2_000, 4_000, 5_000] as const;
const RETRY_AFTER_SECONDS_MAX = 30;
/** A poll slows down to this many intervals. */
const POLL_STRETCH_MAX = 5;
const POLL_FAILURES_MAX = 10;

export interface AgentClientParts {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Told when something goes wrong that the client mends by itself. */
  readonly onTrouble?: (what: string) => void;
}

/** True when nobody needs to wait any longer: the task has ended, or it is the caller's turn. */
export function isSettled(state: TaskState | 'unspecified'): boolean {
  return state !== 'unspecified' && (isTerminal(state) || isInterrupted(state));
}

/** A client of one agent over one binding. What it gives back is the protocol's own JSON, unchanged. */
export class AgentClient {
  readonly #parts: AgentClientParts;

  constructor(parts: AgentClientParts) {
    this.#parts = parts;
  }

  /** One call. A server that says it is busy and that the same request may come again is asked again. */
  async call(operation: Operation, params: JsonObject, signal: AbortSignal): Promise<Json> {
    return await this.#patiently(signal, () => this.#parts.transport.call(operation, params, signal));
  }

  /**
   * The frames of a stream until the task has ended or waits for the caller, or until the one Message of a reply. A
   * stream that breaks off is taken up behind its last frame; a task that has ended meanwhile is read.
   */
  async *stream(
    operation: 'SendStreamingMessage' | 'SubscribeToTask',
    params: JsonObject,
    signal: AbortSignal,
  ): AsyncGenerator<Frame> {
    const { transport } = this.#parts;
    const place = new StreamPlace(operation === 'SubscribeToTask' ? String(params.id) : undefined);
    let frames = await this.#patiently(signal, () => transport.stream(operation, params, { signal }));
    for (let tries = 0; ; ) {
      const end = yield* place.read(frames);
      if (end.kind === 'settled') return;
      if (place.taskId === undefined) throw end.error ?? new ClientError('lost', 'The stream ended before it began.');
      if (end.frames > 0) tries = 0;
      const resumed = await this.#resume(place, { tries, error: end.error, signal });
      tries = resumed.tries;
      frames = resumed.frames;
    }
  }

  /** Reads the task until it has ended or waits for the caller; a server that is away for a while is waited for. */
  async waitForTask(id: string, options: { readonly pollMs: number; readonly signal: AbortSignal }): Promise<Json> {
    let failures = 0;
    for (let polls = 0; ; polls += 1) {
      try {
        const json = await this.call('GetTask', { id }, options.signal);
        failures = 0;
        if (isSettled(decodeTask(json).status.state)) return json;
      } catch (error) {
        failures += 1;
        if (!isPassing(error) || failures > POLL_FAILURES_MAX) throw error;
        this.#parts.onTrouble?.(`${(error as Error).message} Asking again.`);
      }
      const waitMs = options.pollMs * Math.min(1.25 ** polls, POLL_STRETCH_MAX);
      await this.#parts.clock.sleep(waitMs, options.signal);
    }
  }

  async #resume(
    place: StreamPlace,
    { tries: before, error, signal }: { readonly tries: number; readonly error: unknown; readonly signal: AbortSignal },
  ): Promise<{ readonly tries: number; readonly frames: AsyncIterable<Frame> }> {
    let reason = error;
    for (let tries = before + 1; tries <= RESUME_TRIES_MAX; tries += 1) {
      this.#parts.onTrouble?.(`${reason instanceof Error ? reason.message : 'The stream ended early.'} Taking it up.`);
      await this.#parts.clock.sleep(RESUME_WAITS_MS[tries - 1] ?? RESUME_WAITS_MS.at(-1) ?? 0, signal);
      try {
        return { tries, frames: await this.#subscribe(place, signal) };
      } catch (caught) {
        if (!isPassing(caught)) throw caught;
        reason = caught;
      }
    }
    throw reason ?? new ClientError('lost', 'The stream ends again and again before the task does.');
  }

  async #subscribe(place: StreamPlace, signal: AbortSignal): Promise<AsyncIterable<Frame>> {
    const { transport } = this.#parts;
    const id = String(place.taskId);
    try {
      return await transport.stream(
        'SubscribeToTask',
        { id },
        { signal, ...(place.lastId === undefined ? {} : { lastEventId: place.lastId }) },
      );
    } catch (error) {
      if (!(error instanceof ClientError) || error.facts.a2aName !== 'UnsupportedOperationError') throw error;
      return onlyFrame({ json: { task: await this.call('GetTask', { id }, signal) } });
    }
  }

  async #patiently<Answer>(signal: AbortSignal, act: () => Promise<Answer>): Promise<Answer> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await act();
      } catch (error) {
        const isBusy = error instanceof ClientError && error.kind === 'busy';
        if (!isBusy || tries >= BUSY_TRIES_MAX || signal.aborted) throw error;
        const seconds = Math.min(error.facts.retryAfterSeconds ?? tries, RETRY_AFTER_SECONDS_MAX);
        this.#parts.onTrouble?.(`${error.message} Asking again in ${seconds} s.`);
        await this.#parts.clock.sleep(seconds * 1_000, signal);
      }
    }
  }
}

/** An error that time may mend. */
function isPassing(error: unknown): boolean {
  return error instanceof ClientError && ['lost', 'unreachable', 'busy'].includes(error.kind);
}

type StreamEnd =
  | { readonly kind: 'settled' }
  | { readonly kind: 'cut'; readonly frames: number; readonly error?: unknown };

/** How far one stream, over several connections, has been read. */
class StreamPlace {
  taskId: string | undefined;
  lastId: string | undefined;

  constructor(taskId: string | undefined) {
    this.taskId = taskId;
  }

  async *read(frames: AsyncIterable<Frame>): AsyncGenerator<Frame, StreamEnd> {
    let count = 0;
    try {
      for await (const frame of frames) {
        count += 1;
        if (frame.id !== undefined) this.lastId = frame.id;
        const isLast = this.#take(decodeStreamResponse(frame.json));
        yield frame;
        if (isLast) return { kind: 'settled' };
      }
    } catch (error) {
      if (!isPassing(error)) throw error;
      return { kind: 'cut', frames: count, error };
    }
    return { kind: 'cut', frames: count };
  }

  #take(item: StreamItem): boolean {
    switch (item.kind) {
      case 'message':
        return true;
      case 'task':
        this.taskId = item.task.id;
        return isSettled(item.task.status.state);
      case 'status':
        this.taskId ??= item.taskId;
        return isSettled(item.status.state);
      default:
        return false;
    }
  }
}
