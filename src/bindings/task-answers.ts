import type { Json, JsonObject } from '../base/json.ts';
import type { LargeTask, TaskShown } from '../operations/operations.ts';
import { holdsBlobMark, splitAtBlobs } from '../protocol/v1/blob-marks.ts';
import { encodeListedTask, encodeTask } from '../protocol/v1/encode.ts';
import type { DoorParts } from './door.ts';
import type { TextSource } from './held-texts.ts';
import type { HttpResponse } from './http/exchange.ts';
import { frameOf, longFramePieces, unbroken } from './long-frames.ts';
import { textPieces } from './text-pieces.ts';

type Shown = Extract<TaskShown, { readonly content: unknown }>;

/** How a task is written; forms of one name write the same. */
export interface TaskForm {
  readonly name: string;
  write(snapshot: Shown): JsonObject;
}

/** A2A's `Task` with its artifacts, and the newest so many messages. */
export function a2aForm(historyLength: number | undefined): TaskForm {
  const options = { artifacts: true, ...(historyLength === undefined ? {} : { historyLength }) };
  return { name: `a2a ${historyLength ?? 'all'}`, write: (snapshot) => encodeTask(snapshot, options) };
}

/** A2A's `Task` in a list. */
export function listedForm(artifacts: boolean): TaskForm {
  return { name: `listed ${artifacts}`, write: (snapshot) => encodeListedTask(snapshot, { artifacts }) };
}

/** An answer with a task in it that is too large for one text: what stands around it, and how to write it. */
export class LargeAnswer {
  readonly pieces: readonly (string | TextSource)[];

  constructor(pieces: readonly (string | TextSource)[]) {
    this.pieces = pieces;
  }

  around(before: string, after: string): LargeAnswer {
    return new LargeAnswer([before, ...this.pieces, after]);
  }
}

/** One task as an answer of its own. */
export function taskAnswer(shown: TaskShown, form: TaskForm): JsonObject | LargeAnswer {
  return 'content' in shown ? form.write(shown) : new LargeAnswer([sourceOf(shown, form)]);
}

/** One task under `task`. */
export function underTask(shown: TaskShown, form: TaskForm): JsonObject | LargeAnswer {
  const answer = taskAnswer(shown, form);
  return answer instanceof LargeAnswer ? answer.around('{"task":', '}') : { task: answer };
}

/** A list of tasks, the first member of an object with `rest` after it; A2A wants it also when it is empty. */
export function listAnswer(list: readonly TaskShown[], form: TaskForm, rest: JsonObject): JsonObject | LargeAnswer {
  const small = list.filter((shown) => 'content' in shown);
  if (small.length === list.length) return { tasks: small.map((shown) => form.write(shown)), ...rest };
  const tasks = list.flatMap((shown, index): (string | TextSource)[] => [
    index === 0 ? '' : ',',
    'content' in shown ? JSON.stringify(form.write(shown)) : sourceOf(shown, form),
  ]);
  return new LargeAnswer(['{"tasks":[', ...tasks, `],${JSON.stringify(rest).slice(1)}`]);
}

function sourceOf({ task, large }: LargeTask, form: TaskForm): TextSource {
  return {
    // A deadline is put off without an event.
    key: `${task.no} ${task.headSeq} ${task.deadline?.at ?? ''} ${large.key} ${form.name}`,
    bytes: large.bytes,
    write: async () => splitAtBlobs(JSON.stringify(form.write({ task, content: await large.read() }))),
  };
}

/** Has the texts of an answer written, so that what is wrong with them is an error of its own and no broken answer. */
export async function prepare({ held }: DoorParts, answer: LargeAnswer | Json): Promise<void> {
  if (!(answer instanceof LargeAnswer)) return;
  for (const piece of answer.pieces) if (typeof piece !== 'string') await held.prepare(piece);
}

/** A frame with a task in it, in one piece where it is short. */
export async function* taskFrame(
  parts: DoorParts,
  answer: JsonObject | LargeAnswer,
  { before, after }: { readonly before: string; readonly after: string },
): AsyncGenerator<string> {
  if (answer instanceof LargeAnswer) {
    yield* unbroken(answerPieces(parts, answer.around(before, after)));
    return;
  }
  const frame = frameOf(before, JSON.stringify(answer), after);
  if (typeof frame === 'string') yield frame;
  else yield* unbroken(longFramePieces(frame, parts.readBlob));
}

/** The texts of an answer as they go out. */
async function* answerPieces(parts: DoorParts, { pieces }: LargeAnswer): AsyncGenerator<string> {
  for (const piece of pieces) {
    if (typeof piece === 'string') yield* textPieces(piece, parts.readBlob);
    else yield* parts.held.read(piece);
  }
}

export async function largeResponse(
  parts: DoorParts,
  answer: LargeAnswer,
  options: { readonly contentType: string; readonly headers?: Readonly<Record<string, string>> },
): Promise<HttpResponse> {
  await prepare(parts, answer);
  return {
    status: 200,
    headers: { 'content-type': options.contentType, ...options.headers },
    body: answerPieces(parts, answer),
  };
}

/** An answer whose text has blobs in it: their bytes are read while it goes out. Any other is as it was. */
export function withFiles({ readBlob }: Pick<DoorParts, 'readBlob'>, response: HttpResponse): HttpResponse {
  const { body } = response;
  if (typeof body !== 'string' || !holdsBlobMark(body)) return response;
  return { ...response, body: textPieces(body, readBlob) };
}
