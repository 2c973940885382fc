import type { Json } from '../../base/json.ts';
import { decodeWith, type ObjectReader } from '../../protocol/v1/read.ts';
import type { DoorParts } from '../door.ts';
import type { HttpRequest, HttpResponse } from '../http/exchange.ts';
import { prefers } from '../http/headers.ts';
import { jsonResponse } from '../http/status-body.ts';
import { LargeAnswer, largeResponse, type TaskForm } from '../task-answers.ts';
import { nativeTask } from './encode.ts';

export const JSON_TYPE = 'application/json';
const NO_STORE = { 'cache-control': 'no-store' };
const EVENT_STREAM = 'text/event-stream';

export function answer(json: Json): HttpResponse {
  return jsonResponse(json, { contentType: JSON_TYPE, headers: NO_STORE });
}

/** An answer that has tasks in it. */
export async function answerTasks(parts: DoorParts, json: Json | LargeAnswer): Promise<HttpResponse> {
  if (!(json instanceof LargeAnswer)) return answer(json);
  return await largeResponse(parts, json, { contentType: JSON_TYPE, headers: NO_STORE });
}

/** The native task. */
export function nativeForm({ cursorOf }: Pick<DoorParts, 'cursorOf'>): TaskForm {
  return { name: 'native', write: (snapshot) => nativeTask(snapshot, cursorOf(snapshot.task.headSeq)) };
}

/** Reads the parameters that a route knows; each may be given once. */
export function readQuery<Query>(request: HttpRequest, read: (reader: ObjectReader) => Query): Query {
  return decodeWith(Object.fromEntries(request.query), read);
}

export function wantsEvents(request: HttpRequest): boolean {
  return request.method !== 'HEAD' && prefers(request, EVENT_STREAM, JSON_TYPE);
}

export function wantsJson(request: HttpRequest): boolean {
  return prefers(request, JSON_TYPE, EVENT_STREAM);
}
