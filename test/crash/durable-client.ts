import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

/** An event as a native stream told it: where it stands, and what it said. */
export interface SeenEvent {
  readonly seq: number;
  readonly kind: string;
  readonly text: string;
}

export interface TaskJson {
  readonly id: string;
  readonly status: { readonly state: string };
  readonly artifacts?: readonly { readonly name?: string; readonly parts: readonly { readonly text?: string }[] }[];
}

/** A client that outlives its server: it repeats what got no answer, and follows from the last event it saw. */
export class DurableClient {
  readonly #url: () => Promise<string>;
  readonly #signal: AbortSignal;

  constructor(server: { readonly url: () => Promise<string>; readonly signal: AbortSignal }) {
    this.#url = server.url;
    this.#signal = server.signal;
  }

  /** Sends until it is answered; the same message id each time. */
  async send(skill: string, options: { readonly taskId?: string; readonly data?: unknown } = {}): Promise<TaskJson> {
    const message = {
      messageId: randomUUID(),
      role: 'ROLE_USER',
      parts: [options.data === undefined ? { text: skill } : { data: options.data }],
      ...(options.taskId === undefined ? { metadata: { skillId: skill } } : { taskId: options.taskId }),
    };
    const answer = await this.#rpc('SendMessage', { message, configuration: { returnImmediately: true } });
    return (answer as { task: TaskJson }).task;
  }

  async get(id: string): Promise<TaskJson> {
    return (await this.#rpc('GetTask', { id })) as TaskJson;
  }

  /** Cancels until the task is canceled; a repeat after a lost answer finds it canceled already. */
  async cancel(id: string): Promise<TaskJson> {
    const answer = await this.#rpc('CancelTask', { id }, ['TASK_NOT_CANCELABLE']);
    return answer === undefined ? this.get(id) : (answer as TaskJson);
  }

  async until(id: string, states: readonly string[]): Promise<TaskJson> {
    for (;;) {
      const task = await this.get(id);
      if (states.includes(task.status.state)) return task;
      await wait(20, undefined, { signal: this.#signal });
    }
  }

  /** Follows the native stream to its end, over every crash; gives each event once. */
  async follow(id: string): Promise<readonly SeenEvent[]> {
    const seen: SeenEvent[] = [];
    let cursor = '';
    for (;;) {
      const ended = await this.#followOnce(id, cursor, (frame) => {
        cursor = frame.id;
        seen.push(frame.event);
      }).catch(() => this.#pause());
      if (ended === true) return seen;
    }
  }

  /** The whole log, as a page after page reader sees it. */
  async log(id: string): Promise<readonly SeenEvent[]> {
    const events: SeenEvent[] = [];
    for (;;) {
      const after = events.at(-1)?.seq ?? 0;
      const page = (await this.#json(`/v1/tasks/${id}/events?after=${after}&limit=500`)) as {
        events: Record<string, unknown>[];
      };
      if (page.events.length === 0) return events;
      events.push(
        ...page.events.map((event) => ({
          seq: Number(event.seq),
          kind: String(event.kind),
          text: JSON.stringify(event),
        })),
      );
    }
  }

  async runs(id: string): Promise<readonly { readonly state: string; readonly outcome?: string }[]> {
    return ((await this.#json(`/v1/tasks/${id}/runs`)) as { runs: { state: string; outcome?: string }[] }).runs;
  }

  async #followOnce(
    id: string,
    cursor: string,
    take: (frame: { id: string; event: SeenEvent }) => void,
  ): Promise<boolean> {
    const headers = { accept: 'text/event-stream', ...(cursor === '' ? {} : { 'last-event-id': cursor }) };
    const response = await fetch(`${await this.#url()}/v1/tasks/${id}/events`, { headers, signal: this.#signal });
    if (!response.ok || response.body === null)
      throw new Error(`events answered ${response.status}: ${await response.text()}`);
    let rest = '';
    let terminal = false;
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      rest += chunk;
      const frames = rest.split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) {
        const parsed = parseFrame(frame);
        if (parsed === undefined) continue;
        take(parsed);
        terminal =
          /"TASK_STATE_(COMPLETED|FAILED|CANCELED|REJECTED)"/.test(parsed.event.text) &&
          parsed.event.kind === 'status-changed';
      }
    }
    return terminal;
  }

  async #rpc(method: string, params: unknown, expected: readonly string[] = []): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    for (;;) {
      const answer = await this.#post(body).catch(() => this.#pause());
      if (answer === undefined) continue;
      if (answer.error === undefined) return answer.result;
      const text = JSON.stringify(answer.error);
      if (expected.some((reason) => text.includes(reason))) return undefined;
      if (!/UNAVAILABLE|OVERLOADED/.test(text)) throw new Error(`${method} answered ${text}`);
      await this.#pause();
    }
  }

  async #post(body: string): Promise<{ result?: unknown; error?: unknown }> {
    const response = await fetch(`${await this.#url()}/a2a/jsonrpc`, {
      method: 'POST',
      body,
      signal: this.#signal,
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    });
    return (await response.json()) as { result?: unknown; error?: unknown };
  }

  async #json(path: string): Promise<unknown> {
    for (;;) {
      const response = await fetch((await this.#url()) + path, { signal: this.#signal }).catch(() => this.#pause());
      if (response?.ok) return response.json();
      if (response !== undefined) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    }
  }

  async #pause(): Promise<undefined> {
    await wait(20, undefined, { signal: this.#signal });
    return undefined;
  }
}

function parseFrame(frame: string): { id: string; event: SeenEvent } | undefined {
  const field = (name: string) =>
    frame
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  const id = field('id');
  const kind = field('event');
  const data = field('data');
  if (id === undefined || kind === undefined || data === undefined || kind === 'snapshot') return undefined;
  return { id, event: { seq: (JSON.parse(data) as { seq: number }).seq, kind, text: data } };
}
