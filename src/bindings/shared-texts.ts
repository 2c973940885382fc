import type { StoredEvent } from '../model/event.ts';
import type { TaskId } from '../model/ids.ts';

/** Readers of one task are seldom further apart than this; who is, writes for itself. */
const EVENTS_MAX = 128;
/** Larger texts are not kept for those to come, only shared by those who are writing them. */
const TEXT_CHARS_MAX = 16 * 1024;

/** A text that is shared as long as somebody has it in hand. */
export class LargeText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

interface TaskTexts {
  streams: number;
  readonly bySeq: Map<number, string>;
  readonly large: Map<number, WeakRef<LargeText>>;
}

/**
 * The text of an event, written once for all streams of its task in this process. A task with one reader keeps none:
 * remembering costs more than writing.
 */
export class SharedTexts {
  readonly #tasks = new Map<TaskId, TaskTexts>();

  /** Joins a stream; `write` makes a text, or undefined for what the stream does not carry. Call `leave` when it ends. */
  join(
    taskId: TaskId,
    write: (event: StoredEvent) => string | undefined,
  ): { of(event: StoredEvent): string | LargeText | undefined; leave(): void } {
    const texts: TaskTexts = this.#tasks.get(taskId) ?? { streams: 0, bySeq: new Map(), large: new Map() };
    this.#tasks.set(taskId, texts);
    texts.streams += 1;
    return {
      of: (event) => (texts.streams > 1 ? shared(texts, event, write) : write(event)),
      leave: () => {
        texts.streams -= 1;
        if (texts.streams < 2) {
          texts.bySeq.clear();
          texts.large.clear();
        }
        if (texts.streams === 0) this.#tasks.delete(taskId);
      },
    };
  }

  /** Tasks with a stream, and texts that are kept. */
  counts(): { readonly tasks: number; readonly texts: number } {
    const texts = [...this.#tasks.values()].reduce((sum, { bySeq }) => sum + bySeq.size, 0);
    return { tasks: this.#tasks.size, texts };
  }
}

function shared(
  { bySeq, large }: TaskTexts,
  event: StoredEvent,
  write: (event: StoredEvent) => string | undefined,
): string | LargeText | undefined {
  const known = bySeq.get(event.seq) ?? large.get(event.seq)?.deref();
  if (known !== undefined) return known;
  const text = write(event);
  if (text === undefined) return text;
  if (text.length > TEXT_CHARS_MAX) return inHand(large, event.seq, text);
  bySeq.set(event.seq, text);
  if (bySeq.size > EVENTS_MAX) bySeq.delete(bySeq.keys().next().value ?? 0);
  return text;
}

function inHand(large: TaskTexts['large'], seq: number, text: string): LargeText {
  for (const [at, kept] of large) if (kept.deref() === undefined) large.delete(at);
  const shared = new LargeText(text);
  large.set(seq, new WeakRef(shared));
  return shared;
}
