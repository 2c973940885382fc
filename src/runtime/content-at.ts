import { assert } from '../base/assert.ts';
import { limits } from '../base/limits.ts';
import { type Artifact, isClosingPart } from '../model/artifact.ts';
import type { StoredEvent } from '../model/event.ts';
import type { ArtifactId, Seq, TaskNo } from '../model/ids.ts';
import type { Message, Part } from '../model/message.ts';
import { emptyContent, foldContent, type TaskContent } from '../model/task-fold.ts';
import type { SnapshotWant, SystemStore } from '../store/contract.ts';
import { partsBytes } from './event-bytes.ts';
import { letOthersGoOn } from './event-loop.ts';

/**
 * The content of a task as it stood at a seq, folded from its log page by page: the same each time, whatever happened
 * since, and as a snapshot of that moment would have given it. Others go on between the pages. `gone` when the task
 * is, `too-large` when its content passes `bytesMax`.
 */
export async function contentAt(
  store: Pick<SystemStore, 'readEvents'>,
  taskNo: TaskNo,
  at: { readonly headSeq: Seq; readonly want: SnapshotWant; readonly bytesMax: number },
): Promise<TaskContent | 'gone' | 'too-large'> {
  const { headSeq, want, bytesMax } = at;
  const builder = new ContentBuilder(want);
  for (let after = 0 as Seq; after < headSeq; ) {
    const events = await store.readEvents(taskNo, {
      after,
      eventsMax: Math.min(limits.eventsPerReadMax, headSeq - after),
      bytesMax: limits.readBytesMax,
    });
    const last = events?.at(-1);
    if (events === undefined) return 'gone';
    assert(last !== undefined, 'the log holds every event up to the head of its task');
    for (const event of events) builder.add(event);
    if (builder.bytes > bytesMax) return 'too-large';
    after = last.seq;
    await letOthersGoOn();
  }
  return builder.content();
}

type Piece = Extract<StoredEvent, { readonly kind: 'artifact-updated' }>;
interface OpenArtifact {
  artifact: Omit<Artifact, 'parts'>;
  readonly parts: Part[];
  bytes: number;
}

/** What `foldContent` makes of a log, in a time that grows with the chunks of an artifact and not with their square. */
class ContentBuilder {
  readonly #want: SnapshotWant;
  readonly #artifacts = new Map<ArtifactId, OpenArtifact>();
  #speech: TaskContent = emptyContent;
  /** Messages at the beginning of the history that nobody wants. */
  #forgotten = 0;
  /** About what the content holds so far; what was replaced or discarded no longer counts. */
  bytes = 0;

  constructor(want: SnapshotWant) {
    this.#want = want;
  }

  add(event: StoredEvent): void {
    if (event.kind === 'message-received' || event.kind === 'status-changed') {
      if (event.kind === 'status-changed') this.#forgetOldStatus();
      this.#speech = foldContent(this.#speech, event);
      this.bytes += messageBytes(event.message);
      this.#forgetOldest();
    } else if (event.kind === 'artifact-updated' && this.#want.artifacts) this.#update(event);
    else if (event.kind === 'artifact-discarded') this.#drop(event.artifactId);
  }

  content(): TaskContent {
    const { statusPlace } = this.#speech;
    return {
      ...this.#speech,
      ...(statusPlace === undefined ? {} : { statusPlace: statusPlace + this.#forgotten }),
      artifacts: [...this.#artifacts.values()].map(({ artifact, parts }) => ({ ...artifact, parts })),
    };
  }

  /** Messages before the newest that are wanted take no room. */
  #forgetOldest(): void {
    const { history, statusPlace } = this.#speech;
    const forgotten = history.slice(0, Math.max(0, history.length - (this.#want.historyMax ?? history.length)));
    if (forgotten.length === 0) return;
    for (const message of forgotten) this.bytes -= messageBytes(message);
    this.#forgotten += forgotten.length;
    const place = statusPlace === undefined ? {} : { statusPlace: statusPlace - forgotten.length };
    this.#speech = { ...this.#speech, ...place, history: history.slice(forgotten.length) };
  }

  /** A status message that is superseded, and was said before all messages that are wanted, is not among them. */
  #forgetOldStatus(): void {
    const { statusMessage, statusPlace = 0, ...rest } = this.#speech;
    if (statusPlace >= 0) return;
    this.bytes -= messageBytes(statusMessage);
    this.#forgotten += 1;
    this.#speech = rest;
  }

  #update(event: Piece): void {
    const known = this.#artifacts.get(event.artifactId);
    const opened = known !== undefined && event.append ? known : this.#open(event, known);
    for (const part of isClosingPart(event) ? [] : event.parts) opened.parts.push(part);
    const bytes = partsBytes(event.parts);
    opened.bytes += bytes;
    this.bytes += bytes;
    if (event.lastChunk) opened.artifact = { ...opened.artifact, closedSeq: event.seq };
  }

  /** An artifact that is replaced keeps its place among the others, and its header unless it got another. */
  #open(event: Piece, known: OpenArtifact | undefined): OpenArtifact {
    this.bytes -= known?.bytes ?? 0;
    const opened: OpenArtifact = {
      artifact: {
        artifactId: event.artifactId,
        origin: event.origin,
        turnNo: event.turnNo,
        ...(event.runNo === undefined ? {} : { runNo: event.runNo }),
        header: event.header ?? known?.artifact.header ?? {},
        baseSeq: event.seq,
      },
      parts: [],
      bytes: 0,
    };
    this.#artifacts.set(event.artifactId, opened);
    return opened;
  }

  #drop(artifactId: ArtifactId): void {
    this.bytes -= this.#artifacts.get(artifactId)?.bytes ?? 0;
    this.#artifacts.delete(artifactId);
  }
}

function messageBytes(message: Message | undefined): number {
  return message === undefined ? 0 : partsBytes(message.parts);
}
