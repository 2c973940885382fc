import { fieldError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { type Cursor, parseCursor } from '../../model/cursor.ts';
import { audienceOf } from '../../model/event.ts';
import { parseId, type Seq } from '../../model/ids.ts';
import { correlationOf } from '../../protocol/v1/correlation.ts';
import type { HttpRequest, HttpResponse } from '../http/exchange.ts';
import { streamResponse } from '../http/sse.ts';
import { LargeAnswer } from '../task-answers.ts';
import { answer, answerTasks, readQuery, wantsEvents, wantsJson } from './answers.ts';
import { artifactFile } from './artifact-bytes.ts';
import { artifactJson, isLargeText, jsonSource } from './artifact-text.ts';
import { nativeArtifact, nativeEvent, nativeRun, nativeTurn } from './encode.ts';
import { nativeFrames, prepareSnapshot } from './frames.ts';
import type { NativeExchange, NativeRoute } from './route.ts';
import { taskIdOf } from './task-routes.ts';

const SEQ_MAX = 2 ** 31 - 1;

export const eventsRoute: NativeRoute = {
  name: 'readEvents',
  summary: 'One page of the log; with Accept: text/event-stream the whole log, then what follows.',
  query: [
    { name: 'after', type: 'integer', description: 'Events after this seq; for a page.' },
    { name: 'limit', type: 'integer', description: 'From 1 to 500 events; for a page.' },
  ],
  streams: true,
  run: (exchange) => (wantsEvents(exchange.request) ? followEvents(exchange) : readEvents(exchange)),
};

async function readEvents(exchange: NativeExchange): Promise<HttpResponse> {
  const { parts, request, call } = exchange;
  const query = readQuery(request, (reader) => {
    const after = reader.int32('after', { min: 0, max: SEQ_MAX });
    const limit = reader.int32('limit', { min: 1, max: limits.eventsPerReadMax });
    return { ...(after === undefined ? {} : { after: after as Seq }), ...(limit === undefined ? {} : { limit }) };
  });
  const page = await parts.operations.readEvents(call, { id: taskIdOf(exchange), ...query });
  const last = page.events.at(-1)?.event.seq ?? query.after ?? (0 as Seq);
  const shown = page.events.filter(({ event }) => audienceOf(event) !== 'internal');
  return answer({
    ...correlationOf(page.task),
    events: shown.map(nativeEvent),
    headSeq: page.headSeq,
    cursor: parts.cursorOf(last),
  });
}

async function followEvents(exchange: NativeExchange): Promise<HttpResponse> {
  const { parts, request, call } = exchange;
  const cursor = lastEventId(request);
  const id = taskIdOf(exchange);
  const followed = await parts.operations.followEvents(call, { id, ...(cursor === undefined ? {} : { cursor }) });
  await prepareSnapshot(parts, followed.snapshot);
  return streamResponse(nativeFrames(parts, followed, request.signal), { clock: parts.clock });
}

/** None and an empty one mean the start. Throws InvalidParams for what is no cursor of ours. */
function lastEventId(request: HttpRequest): Cursor | undefined {
  const text = request.headers['last-event-id'];
  if (text === undefined || text === '') return undefined;
  const cursor = parseCursor(text);
  if (cursor === undefined) {
    throw fieldError('Last-Event-ID', 'is no cursor of this server: send the id of an event, or nothing for the start');
  }
  return cursor;
}

export const runsRoute: NativeRoute = {
  name: 'listRuns',
  summary: 'The runs and turns of a task.',
  async run(exchange) {
    const { parts, call } = exchange;
    const { task, runs, turns } = await parts.operations.listRuns(call, { id: taskIdOf(exchange) });
    return answer({
      ...correlationOf(task),
      runs: runs.map((run) => nativeRun(run, task)),
      turns: turns.map(nativeTurn),
    });
  },
};

export const artifactsRoute: NativeRoute = {
  name: 'listArtifacts',
  summary: "A task's artifacts: what the agent made, and the files that clients sent.",
  async run(exchange) {
    const { parts, call } = exchange;
    const artifacts = await parts.operations.listArtifacts(call, { id: taskIdOf(exchange) });
    return answer({ taskId: taskIdOf(exchange), artifacts: artifacts.map(nativeArtifact) });
  },
};

export const artifactRoute: NativeRoute = {
  name: 'readArtifact',
  summary: 'An artifact: its bytes where it is one file or text, else JSON; Accept: application/json for JSON always.',
  async run(exchange) {
    const { parts, request, call, fields } = exchange;
    const artifactId = parseId<string>(fields.artifactId ?? '', 'artifactId');
    const taskId = taskIdOf(exchange);
    const read = () => parts.operations.readArtifact(call, { id: taskId, artifactId });
    const given = { taskId, artifact: await read(), read };
    const file = wantsJson(request) ? undefined : await artifactFile(parts, given);
    if (file !== undefined) return file;
    const json = isLargeText(given.artifact) ? new LargeAnswer([jsonSource(given)]) : artifactJson(given.artifact);
    return await answerTasks(parts, json);
  },
};
