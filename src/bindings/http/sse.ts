import { OVER } from '../../base/abort-over.ts';
import type { Clock } from '../../base/clock.ts';
import { PIECE_CHARS } from '../text-pieces.ts';
import type { HttpResponse } from './exchange.ts';

/** One server-sent event. `data` is one line: JSON text has no line breaks. */
export interface Frame {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
  readonly retryMs?: number;
}

export function encodeFrame({ id, event, data, retryMs }: Frame): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`;
  const eventLine = event === undefined ? '' : `event: ${event}\n`;
  const retryLine = retryMs === undefined ? '' : `retry: ${retryMs}\n`;
  return `${idLine}${eventLine}${retryLine}data: ${data}\n\n`;
}

/** The frames of a batch, joined into pieces; what is no text, since it is written in another way, stands alone. */
export function* inPieces<Item, Long extends object = never>(
  items: readonly Item[],
  write: (item: Item) => string | Long,
): Generator<string | Long> {
  let piece = '';
  for (const item of items) {
    const frame = write(item);
    if (typeof frame !== 'string') {
      if (piece !== '') yield piece;
      piece = '';
      yield frame;
      continue;
    }
    piece += frame;
    if (piece.length < PIECE_CHARS) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/** A comment: it keeps proxies from cutting an idle stream, and no client takes it for an event. */
const PING_FRAME = ': ping\n\n';
const PING_MS = 15_000;

/** What every stream says of itself, so that no proxy holds it back, alters or keeps it. */
export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

export function streamResponse(
  frames: AsyncIterable<string>,
  options: { readonly clock: Clock; readonly headers?: Readonly<Record<string, string>> },
): HttpResponse {
  return { status: 200, headers: { ...streamHeaders, ...options.headers }, body: withPings(frames, options.clock) };
}

/** The same frames, and a ping wherever none came for 15 s while the reader was waiting for one. None stands inside a frame. */
export function withPings(frames: AsyncIterable<string>, clock: Clock): AsyncIterable<string> {
  return { [Symbol.asyncIterator]: () => new PingedFrames(frames[Symbol.asyncIterator](), clock) };
}

interface Waiter {
  resolve(result: IteratorResult<string>): void;
  reject(error: unknown): void;
}

/**
 * Pulls the next frames only when asked for some, so a reader that does not read holds nothing. One timer runs per
 * stream however many frames pass; it sleeps until the last of them is 15 s old.
 */
class PingedFrames implements AsyncIterator<string> {
  readonly #frames: AsyncIterator<string>;
  readonly #clock: Clock;
  readonly #stopped = new AbortController();
  #waiter: Waiter | undefined;
  /** Set from a pull until what it gave is handed on; a ping may be handed on before it. */
  #pulling = false;
  #pulled: ((waiter: Waiter) => void) | undefined;
  #lastFrameMs: number;
  #isInFrame = false;

  constructor(frames: AsyncIterator<string>, clock: Clock) {
    this.#frames = frames;
    this.#clock = clock;
    this.#lastFrameMs = clock.monotonicMs();
    this.#pingLoop().catch(() => {
      // A sleep ends early by its signal alone: the stream is over.
    });
  }

  next(): Promise<IteratorResult<string>> {
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      if (!this.#pulling) this.#pull();
      this.#handOn();
    });
  }

  async return(): Promise<IteratorResult<string>> {
    this.#stopped.abort(OVER);
    await this.#frames.return?.();
    return { done: true, value: undefined };
  }

  #pull(): void {
    this.#pulling = true;
    this.#frames.next().then(
      (result) => {
        if (result.done) this.#stopped.abort(OVER);
        else this.#isInFrame = !result.value.endsWith('\n\n');
        this.#arrived((waiter) => waiter.resolve(result));
      },
      (error: unknown) => {
        this.#stopped.abort(OVER);
        this.#arrived((waiter) => waiter.reject(error));
      },
    );
  }

  #arrived(give: (waiter: Waiter) => void): void {
    this.#pulled = give;
    this.#handOn();
  }

  #handOn(): void {
    const give = this.#pulled;
    const waiter = this.#waiter;
    if (give === undefined || waiter === undefined) return;
    this.#pulled = undefined;
    this.#pulling = false;
    this.#waiter = undefined;
    this.#lastFrameMs = this.#clock.monotonicMs();
    give(waiter);
  }

  async #pingLoop(): Promise<void> {
    for (;;) {
      const quietMs = this.#clock.monotonicMs() - this.#lastFrameMs;
      if (quietMs < PING_MS) await this.#clock.sleep(PING_MS - quietMs, this.#stopped.signal);
      else this.#ping();
    }
  }

  #ping(): void {
    this.#lastFrameMs = this.#clock.monotonicMs();
    if (this.#isInFrame) return;
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.resolve({ done: false, value: PING_FRAME });
  }
}
