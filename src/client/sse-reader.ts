/** One server-sent event. */
export interface SseEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
}

/** Reads server-sent events (WHATWG HTML §9.2): any line ends, comments skipped, an unfinished last event dropped. */
export async function* readSse(body: AsyncIterable<Uint8Array>): AsyncGenerator<SseEvent> {
  const parser = new EventParser();
  for await (const line of linesOf(body)) {
    const event = parser.take(line);
    if (event !== undefined) yield event;
  }
}

class EventParser {
  #data: string[] = [];
  #event: string | undefined;
  #id: string | undefined;

  take(line: string): SseEvent | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    if (colon === 0) return undefined;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line.charAt(colon + 1) === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#event = value;
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
    return undefined;
  }

  #dispatch(): SseEvent | undefined {
    const lines = this.#data;
    const event = this.#event;
    this.#data = [];
    this.#event = undefined;
    if (lines.length === 0) return undefined;
    return {
      data: lines.join('\n'),
      ...(event === undefined ? {} : { event }),
      ...(this.#id === undefined ? {} : { id: this.#id }),
    };
  }
}

/** Lines that have ended. A CR at the end of a chunk waits for the next, which may bring its LF. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const text = rest + decoder.decode(chunk, { stream: true });
    const isOpen = text.endsWith('\r');
    const lines = (isOpen ? text.slice(0, -1) : text).split(/\r\n|\n|\r/);
    rest = (lines.pop() ?? '') + (isOpen ? '\r' : '');
    yield* lines;
  }
  const last = (rest + decoder.decode()).split(/\r\n|\n|\r/);
  last.pop();
  yield* last;
}
