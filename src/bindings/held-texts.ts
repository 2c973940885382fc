import { assert } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { BlobPlace } from '../protocol/v1/blob-marks.ts';
import { base64Pieces, PIECE_CHARS, type ReadBlob } from './text-pieces.ts';

/** A large text, and how to write it. */
export interface TextSource {
  /** What it is a text of, and in which form: two sources of one key write the same. */
  readonly key: string;
  /** About how long it will be. */
  readonly bytes: number;
  /** Writes it, the same each time: text, and the blobs whose base64 stands between. */
  write(): Promise<readonly (string | BlobPlace)[]>;
}

/** A reader who took nothing for this long lends its text to those who would. */
const STALLED_MS = 2_000;
/** How often those who wait for room look again. */
const ROOM_POLL_MS = 250;
/** Who finds no room for this long is told to come back; the wait for those before it counts. */
const ROOM_WAIT_MS = 30_000;

interface Held {
  readonly source: TextSource;
  readers: number;
  readAtMs: number;
  /** Undefined until it was written, and after it made room. */
  segments: readonly (Buffer | BlobPlace)[] | undefined;
  bytes: number;
  wasWritten: boolean;
  writing: Promise<void> | undefined;
}

/** Where a reader is: so many segments, and so many bytes of the next one. */
interface TextPlace {
  readonly segment: number;
  readonly byte: number;
}

/**
 * The texts of large tasks, each written once for all who read it, and kept while somebody does. Readers hold a place.
 *
 * All texts together stay below `heldTextsBytesMax`. One that finds no room takes the place of one that nobody reads, or
 * whose readers have all stalled; those find it written anew when they go on. Texts are written one after the other, so
 * that what is needed for writing is needed once. Who waits too long is told `overloaded`.
 */
export class HeldTexts {
  readonly #clock: Clock;
  readonly #readBlob: ReadBlob;
  readonly #bytesMax: number;
  readonly #held = new Map<string, Held>();
  #bytes = 0;
  #lastWrite: Promise<void> = Promise.resolve();

  constructor(parts: { readonly clock: Clock; readonly readBlob: ReadBlob; readonly bytesMax?: number }) {
    this.#readBlob = parts.readBlob;
    this.#clock = parts.clock;
    this.#bytesMax = parts.bytesMax ?? limits.heldTextsBytesMax;
  }

  /** Has the text written before its reader begins, so that what is wrong with it is known while a plain error can be given. */
  async prepare(source: TextSource): Promise<void> {
    const held = this.#join(source);
    try {
      await this.#written(held);
    } finally {
      held.readers -= 1;
      if (held.readers === 0 && held.segments === undefined) this.#forget(held);
    }
  }

  /** The text from its start, in pieces as they are asked for. */
  async *read(source: TextSource): AsyncGenerator<string> {
    const held = this.#join(source);
    try {
      for (let place: TextPlace | undefined = { segment: 0, byte: 0 }; place !== undefined; ) {
        const next: PieceAt = await this.#pieceAt(held, place);
        place = next.after;
        if (typeof next.piece === 'string') yield next.piece;
        else yield* base64Pieces(this.#readBlob(next.piece));
      }
    } finally {
      this.#leave(held);
    }
  }

  /** Texts that are written now, their readers, and what they take. */
  counts(): { readonly texts: number; readonly readers: number; readonly bytes: number } {
    const all = [...this.#held.values()];
    return {
      texts: all.filter(({ segments }) => segments !== undefined).length,
      readers: all.reduce((sum, { readers }) => sum + readers, 0),
      bytes: this.#bytes,
    };
  }

  #join(source: TextSource): Held {
    this.#dropUnread();
    const held = this.#held.get(source.key) ?? {
      source,
      readers: 0,
      readAtMs: 0,
      segments: undefined,
      bytes: source.bytes,
      wasWritten: false,
      writing: undefined,
    };
    this.#held.set(source.key, held);
    held.readers += 1;
    held.readAtMs = this.#clock.monotonicMs();
    return held;
  }

  #leave(held: Held): void {
    held.readers -= 1;
    if (held.readers > 0) return;
    this.#makeRoom(held);
    this.#forget(held);
  }

  #forget(held: Held): void {
    if (this.#held.get(held.source.key) === held) this.#held.delete(held.source.key);
  }

  /** What was prepared for a reader that never came. */
  #dropUnread(): void {
    for (const held of this.#held.values()) {
      if (held.readers > 0 || held.writing !== undefined || !this.#isStalled(held)) continue;
      this.#makeRoom(held);
      this.#forget(held);
    }
  }

  /** The one place where a reader has the text in hand: while it takes its piece, the text may have to make room. */
  async #pieceAt(held: Held, place: TextPlace): Promise<PieceAt> {
    return pieceAt(await this.#written(held), place);
  }

  async #written(held: Held): Promise<NonNullable<Held['segments']>> {
    while (held.segments === undefined) {
      const untilMs = this.#clock.monotonicMs() + ROOM_WAIT_MS;
      held.writing ??= this.#inTurn(() => this.#write(held, untilMs)).finally(() => {
        held.writing = undefined;
      });
      await held.writing;
    }
    held.readAtMs = this.#clock.monotonicMs();
    return held.segments;
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#lastWrite.then(work);
    this.#lastWrite = turn.catch(() => {
      // Whoever waits for the text is told; the next one is written all the same.
    });
    return turn;
  }

  async #write(held: Held, untilMs: number): Promise<void> {
    await this.#room(held.bytes, untilMs);
    const parts = await written(held.source);
    const segments = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
    const bytes = segments.reduce((sum, part) => sum + (Buffer.isBuffer(part) ? part.length : 0), 0);
    assert(!held.wasWritten || bytes === held.bytes, 'a text is the same each time it is written');
    // Letters of several bytes and escapes make a text longer than its content was thought to be.
    if (bytes > held.bytes) await this.#room(bytes, untilMs);
    held.bytes = bytes;
    held.wasWritten = true;
    held.segments = segments;
    held.readAtMs = this.#clock.monotonicMs();
    this.#bytes += bytes;
  }

  async #room(bytes: number, untilMs: number): Promise<void> {
    while (this.#bytes > 0 && this.#bytes + bytes > this.#bytesMax) {
      const idle = this.#longestIdle();
      if (idle !== undefined) this.#makeRoom(idle);
      else if (this.#clock.monotonicMs() < untilMs) await this.#clock.sleep(ROOM_POLL_MS, NEVER);
      else throw noRoom();
    }
  }

  #longestIdle(): Held | undefined {
    let idle: Held | undefined;
    for (const held of this.#held.values()) {
      if (held.segments === undefined || (held.readers > 0 && !this.#isStalled(held))) continue;
      if (idle === undefined || held.readAtMs < idle.readAtMs) idle = held;
    }
    return idle;
  }

  #isStalled({ readAtMs }: Held): boolean {
    return this.#clock.monotonicMs() - readAtMs >= STALLED_MS;
  }

  #makeRoom(held: Held): void {
    if (held.segments === undefined) return;
    held.segments = undefined;
    this.#bytes -= held.bytes;
  }
}

const NEVER = new AbortController().signal;

async function written(source: TextSource): Promise<readonly (string | BlobPlace)[]> {
  try {
    return await source.write();
  } catch (error) {
    // A string has a length that no memory lengthens; escapes make six letters of one.
    if (error instanceof RangeError) throw new CodedError('unsupported_operation', { message: TOO_LONG, cause: error });
    throw error;
  }
}

const TOO_LONG = 'This task is too long for one answer. Read its log, or one artifact at a time.';

function noRoom(): CodedError {
  return new CodedError('overloaded', {
    message:
      'Too many large tasks are being read at once. Try again soon, or ask for less: historyLength, one artifact.',
    retryAfterSeconds: 5,
  });
}

interface PieceAt {
  readonly piece: string | BlobPlace;
  readonly after: TextPlace | undefined;
}

/** The piece at a place, copied: what waits for a socket must not keep the whole text. */
function pieceAt(segments: readonly (Buffer | BlobPlace)[], { segment, byte }: TextPlace): PieceAt {
  const part = segments[segment];
  assert(part !== undefined, 'a place is inside its text');
  const next = segment + 1 < segments.length ? { segment: segment + 1, byte: 0 } : undefined;
  if (!Buffer.isBuffer(part)) return { piece: part, after: next };
  const end = letterBoundary(part, byte + PIECE_CHARS);
  return { piece: part.toString('utf8', byte, end), after: end < part.length ? { segment, byte: end } : next };
}

/** The nearest end at or before `end` that cuts no letter of UTF-8. */
function letterBoundary(bytes: Buffer, end: number): number {
  if (end >= bytes.length) return bytes.length;
  let at = end;
  while (((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}
