import type { Json } from '../base/json.ts';
import type { RemoteStatus, StreamItem } from '../protocol/v1/client-codec.ts';
import { decodeStreamResponse, decodeTask } from '../protocol/v1/client-codec.ts';
import { command } from './agent-session.ts';
import type { ClientOptions } from './client-options.ts';
import type { Io } from './io.ts';
import { renderMessage, renderPlace, renderStreamItem, renderTask, stateWord, type TextStyle } from './render-text.ts';
import { replyForm } from './reply-form.ts';

/** How these options want text. */
export function styleOf(options: ClientOptions): TextStyle {
  return {
    verbose: options.verbose,
    resume: (taskId, question) => command(options, `send --task-id ${taskId} ${replyForm(question)}`),
  };
}

/** Writes results: the protocol's own JSON as it came, or text for people. */
export class Reporter {
  readonly #io: Io;
  readonly #options: ClientOptions;
  readonly #style: TextStyle;

  constructor(io: Io, options: ClientOptions) {
    this.#io = io;
    this.#options = options;
    this.#style = styleOf(options);
  }

  get isJson(): boolean {
    return this.#options.output === 'json';
  }

  /** The one document of a command, or the text for it. With `--stream` a document is one line. */
  document(json: Json, text: () => string): void {
    this.#io.out(this.isJson ? this.#jsonText(json) : text());
  }

  task(json: Json): void {
    const task = decodeTask(json);
    this.document(json, () => renderTask(task, this.#style));
    this.warnOfOutcome(task.status);
  }

  /** A `SendMessageResponse`. */
  sendResponse(json: Json): void {
    const item = decodeStreamResponse(json);
    this.document(json, () => this.#itemText(item));
    if (item.kind === 'task') this.warnOfOutcome(item.task.status);
  }

  /** One event of a stream, written as soon as it is there. */
  event(json: Json, item: StreamItem): void {
    this.#io.out(this.isJson ? `${JSON.stringify(json)}\n` : renderStreamItem(item, this.#style));
  }

  /** The last event of a stream as text restates where the task stands; a JSON line does so by itself. */
  restate(place: { readonly taskId: string; readonly contextId: string; readonly state: RemoteStatus['state'] }): void {
    if (!this.isJson) this.#io.out(renderPlace(place));
  }

  warnOfOutcome({ state }: RemoteStatus): void {
    if (state === 'failed' || state === 'rejected' || state === 'canceled') {
      this.#io.err(`Warning: the task ended ${stateWord(state)}.\n`);
    } else if (state === 'input-required' || state === 'auth-required') {
      this.#io.err(`Warning: the task waits in ${stateWord(state)}.\n`);
    }
  }

  note(text: string): void {
    this.#io.err(`${text}\n`);
  }

  #itemText(item: StreamItem): string {
    if (item.kind === 'message') return renderMessage(item.message, this.#style);
    return renderStreamItem(item, this.#style);
  }

  #jsonText(json: Json): string {
    return `${JSON.stringify(json, null, this.#options.stream ? 0 : 2)}\n`;
  }
}
