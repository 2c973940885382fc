import { limits } from '../../base/limits.ts';
import { type ContextId, parseId } from '../../model/ids.ts';
import { readJson } from '../http/body.ts';
import { streamResponse } from '../http/sse.ts';
import { answer, readQuery, wantsJson } from './answers.ts';
import { messageBody, nativeSend, readBody, sessionBody } from './bodies.ts';
import { nativeSession } from './encode.ts';
import { messageFrames } from './frames.ts';
import type { NativeExchange, NativeRoute } from './route.ts';
import { sendAnswer } from './task-routes.ts';

export const listSessionsRoute: NativeRoute = {
  name: 'listSessions',
  summary: 'Your sessions, newest first.',
  query: [
    { name: 'pageSize', type: 'integer', description: 'From 1 to 100; 50 when absent.' },
    { name: 'pageToken', type: 'string', description: 'The nextPageToken of the page before.' },
  ],
  async run({ parts, request, call }) {
    const query = readQuery(request, (reader) => {
      const pageSize = reader.int32('pageSize', { min: 1, max: limits.pageItemsMax });
      const pageToken = reader.string('pageToken');
      return { ...(pageSize === undefined ? {} : { pageSize }), ...(pageToken === undefined ? {} : { pageToken }) };
    });
    const { sessions, nextPageToken } = await parts.operations.listSessions(call, query);
    return answer({ sessions: sessions.map(nativeSession), nextPageToken });
  },
};

export const openSessionRoute: NativeRoute = {
  name: 'openSession',
  summary: 'Open a session, under a name of your own or a new one. Opening it again changes nothing.',
  body: sessionBody,
  async run({ parts, request, call }) {
    const { sessionId } = readBody(sessionBody, readJson(request));
    const named = sessionId === undefined ? {} : { sessionId: parseId<ContextId>(sessionId, 'sessionId') };
    return answer(nativeSession(await parts.operations.openSession(call, named)));
  },
};

export const readSessionRoute: NativeRoute = {
  name: 'readSession',
  summary: 'One session.',
  async run(exchange) {
    const { parts, call } = exchange;
    return answer(nativeSession(await parts.operations.readSession(call, { sessionId: sessionIdOf(exchange) })));
  },
};

export const sendInSessionRoute: NativeRoute = {
  name: 'sendInSession',
  summary: 'Send a message in a session and follow its task; with Accept: application/json, wait for its turn.',
  body: messageBody,
  streams: true,
  async run(exchange) {
    const { parts, request, call } = exchange;
    const sessionId = sessionIdOf(exchange);
    const params = nativeSend(readBody(messageBody, readJson(request)), { newId: parts.newId, sessionId });
    if (wantsJson(request)) return await sendAnswer(exchange, params);
    const stream = await parts.operations.streamMessage(call, params);
    return streamResponse(await messageFrames(parts, stream, request.signal), { clock: parts.clock });
  },
};

export const abortSessionRoute: NativeRoute = {
  name: 'abortSession',
  summary: "Cancel the session's open tasks.",
  async run(exchange) {
    const { parts, call } = exchange;
    const sessionId = sessionIdOf(exchange);
    const canceled = await parts.operations.abortSession(call, { sessionId });
    return answer({ sessionId, canceledTaskIds: canceled });
  },
};

function sessionIdOf({ fields }: NativeExchange): ContextId {
  return parseId<ContextId>(fields.sessionId ?? '', 'sessionId');
}
