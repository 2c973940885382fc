import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientMessage, doorAgent } from '../../testing/door-agent.ts';
import { type Answer, call, framesOf, type Wire } from '../../testing/door-calls.ts';
import { type ServerWorld, startWorld } from '../../testing/server-world.ts';

const EVENTS = { headers: { accept: 'text/event-stream' } };
const JSON_ONLY = { headers: { accept: 'application/json' } };
const TRACE = '0af7651916cd43dd8448eb211c80319c';

let world: ServerWorld;
beforeAll(async () => {
  world = await startWorld({ agents: [doorAgent(), doorAgent('other')] });
});
afterAll(() => world.close());

const create = async (body: Wire, path = '/v1/tasks'): Promise<Wire> => (await call(world, path, { body })).json;
const reasonOf = ({ json }: Answer): string => json.error.details[0].reason;
const fieldsOf = ({ json }: Answer): readonly string[] =>
  json.error.details[1].fieldViolations.map((violation: Wire) => violation.field);

describe('sessions', () => {
  test('are opened under a name or a new one, and once', async () => {
    const opened = await call(world, '/v1/sessions', { body: { sessionId: 'mine' } });
    expect(opened.status).toBe(200);
    expect(Object.keys(opened.json)).toEqual(['sessionId', 'threadId', 'agent', 'createdAt']);
    expect((await call(world, '/v1/sessions', { body: { sessionId: 'mine' } })).json).toEqual(opened.json);
    expect((await call(world, '/v1/sessions/mine')).json).toEqual(opened.json);
    const { sessionId } = (await call(world, '/v1/sessions', { method: 'POST' })).json;
    expect(sessionId).not.toBe('mine');
    const { task } = await create({ text: 'hi', sessionId: 'mine' });
    expect([task.sessionId, task.contextId, task.threadId]).toEqual(['mine', 'mine', opened.json.threadId]);
  });

  test('are listed newest first, page by page', async () => {
    for (const sessionId of ['p1', 'p2', 'p3']) await call(world, '/v1/sessions', { body: { sessionId } });
    const first = (await call(world, '/v1/sessions?pageSize=2')).json;
    expect(first.sessions.map((session: Wire) => session.sessionId)).toEqual(['p3', 'p2']);
    const next = (await call(world, `/v1/sessions?pageSize=1&pageToken=${first.nextPageToken}`)).json;
    expect(next.sessions[0].sessionId).toBe('p1');
    expect(fieldsOf(await call(world, '/v1/sessions?pageToken=x'))).toEqual(['pageToken']);
    expect(fieldsOf(await call(world, '/v1/sessions?pageSize=0'))).toEqual(['pageSize']);
    for (const text of ['a', 'b']) await create({ text });
    const tasks = (await call(world, '/v1/tasks?pageSize=1')).json;
    expect(fieldsOf(await call(world, `/v1/sessions?pageToken=${tasks.nextPageToken}`))).toEqual(['pageToken']);
  });

  test('take messages as events, or as the task when its turn is over', async () => {
    const stream = await call(world, '/v1/sessions/talk/messages', { body: { text: 'hi' } });
    expect(stream.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    const frames = framesOf(stream.text);
    expect(frames[0]?.event).toBe('snapshot');
    expect(frames[0]?.data.cursor).toBe(frames[0]?.id);
    expect(frames.slice(1).map(({ event }) => event)).toEqual([
      'run-started',
      'status-changed',
      'artifact-updated',
      'run-settled',
      'status-changed',
    ]);
    const { json } = await call(world, '/v1/sessions/talk/messages', { body: { text: 'hi' }, ...JSON_ONLY });
    expect(json.task).toMatchObject({ sessionId: 'talk', status: { state: 'TASK_STATE_COMPLETED' } });
  });

  test('abort cancels what is open and says what', async () => {
    const { task: open } = await create({ text: 'x', skill: 'ask', sessionId: 'to-abort' });
    const { task: done } = await create({ text: 'x', sessionId: 'to-abort' });
    const { json } = await call(world, '/v1/sessions/to-abort/abort', { method: 'POST' });
    expect(json).toEqual({ sessionId: 'to-abort', canceledTaskIds: [open.taskId] });
    expect((await call(world, `/v1/tasks/${done.taskId}`)).json.status.state).toBe('TASK_STATE_COMPLETED');
    expect(reasonOf(await call(world, '/v1/sessions/nope/abort', { method: 'POST' }))).toBe('SESSION_NOT_FOUND');
  });
});

describe('a message', () => {
  test('is a text, parts, or whole as A2A writes it', async () => {
    for (const body of [{ text: 'hi' }, { parts: [{ text: 'hi' }] }, { message: clientMessage() }]) {
      const { task } = await create(body);
      expect(task.artifacts[0].parts).toEqual([{ text: 'echo: hi' }]);
    }
  });

  test('of a reply skill is answered by a message, and streamed as one', async () => {
    expect((await create({ text: 'x', skill: 'ping' })).message.parts).toEqual([{ text: 'pong x' }]);
    const { text } = await call(world, '/v1/sessions/s/messages', { body: { text: 'x', skill: 'ping' } });
    expect(framesOf(text).map(({ event, data }) => [event, data.message.parts])).toEqual([
      ['message', [{ text: 'pong x' }]],
    ]);
  });

  test('repeated under its id is the same task', async () => {
    const body = { text: 'same', messageId: 'native-same' };
    expect((await create(body)).task.taskId).toBe((await create(body)).task.taskId);
    expect(reasonOf(await call(world, '/v1/tasks', { body: { ...body, text: 'other' } }))).toBe('MESSAGE_ID_CONFLICT');
  });

  test('answers a question of a task', async () => {
    const { task } = await create({ text: 'x', skill: 'ask', sessionId: 'answers' });
    const { json } = await call(world, '/v1/sessions/answers/messages', {
      body: { text: 'this', taskId: task.taskId },
      ...JSON_ONLY,
    });
    expect(json.task.artifacts[0].parts).toEqual([{ text: 'got this' }]);
  });

  test.each([
    [{}, ['text']],
    [{ text: 'x', parts: [] }, ['text']],
    [{ text: 7 }, ['text']],
    [{ parts: [] }, ['parts']],
    [{ parts: [{}] }, ['parts[0]']],
    [{ parts: [{ raw: '*' }] }, ['parts[0].raw']],
    [{ text: 'x', messageId: '' }, ['messageId']],
    [{ text: 'x', sessionId: 'a\nb' }, ['sessionId']],
    [{ text: 'x', historyLength: -1 }, ['historyLength']],
    [{ message: { role: 'ROLE_USER', parts: [{ text: 'x' }] } }, ['message.messageId']],
    ['[]', ['request']],
  ])('%j names %j', async (body, fields) => {
    const answer = await call(world, '/v1/tasks', { body });
    expect([answer.status, fieldsOf(answer)]).toEqual([400, fields]);
    expect(answer.headers['content-type']).toBe('application/json');
  });

  test('belongs to the session of its path', async () => {
    const bodies = [{ text: 'x', sessionId: 'b' }, { message: clientMessage({ contextId: 'b' }) }];
    const fields = await Promise.all(bodies.map((body) => call(world, '/v1/sessions/a/messages', { body })));
    expect(fields.map(fieldsOf)).toEqual([['sessionId'], ['message.contextId']]);
  });
});

describe('tasks', () => {
  test('are A2A’s, with what A2A has no word for beside', async () => {
    const { json } = await call(world, '/v1/tasks', {
      body: { text: 'hi', sessionId: 'shape' },
      headers: { traceparent: `00-${TRACE}-b7ad6b7169203331-01` },
    });
    const { task } = json;
    expect(Object.keys(task).toSorted()).toEqual(
      [
        ...['id', 'contextId', 'status', 'artifacts', 'history', 'metadata'],
        ...[
          'sessionId',
          'taskId',
          'threadId',
          'traceId',
          'agent',
          'createdAt',
          'updatedAt',
          'endedAt',
          'seq',
          'cursor',
        ],
      ].toSorted(),
    );
    expect(task).toMatchObject({ id: task.taskId, contextId: 'shape', traceId: TRACE, agent: 'door' });
  });

  test('are listed by session and state under both their names', async () => {
    const { task } = await create({ text: 'hi', sessionId: 'filtered' });
    for (const query of ['sessionId=filtered', 'contextId=filtered', 'sessionId=filtered&state=TASK_STATE_COMPLETED']) {
      const { json } = await call(world, `/v1/tasks?${query}`);
      expect(json.tasks.map((each: Wire) => each.taskId)).toEqual([task.taskId]);
      expect(json).toMatchObject({ nextPageToken: '', pageSize: 50, totalSize: 1 });
    }
    expect(fieldsOf(await call(world, '/v1/tasks?state=DONE'))).toEqual(['status']);
  });

  test('show the messages after one that the client knows', async () => {
    const { task } = await create({ text: 'x', skill: 'ask', messageId: 'first', sessionId: 'after' });
    await create({ text: 'y', taskId: task.taskId });
    const historyOf = async (query: string): Promise<number> =>
      (await call(world, `/v1/tasks/${task.taskId}${query}`)).json.history?.length ?? 0;
    expect(await historyOf('')).toBe(3);
    expect(await historyOf('?historyAfter=first')).toBe(2);
    expect(await historyOf('?historyAfter=first&historyLength=1')).toBe(1);
    expect(await historyOf('?historyLength=0')).toBe(0);
    expect(fieldsOf(await call(world, `/v1/tasks/${task.taskId}?historyAfter=nope`))).toEqual(['historyAfter']);
  });

  test('are canceled, once', async () => {
    const { task } = await create({ text: 'x', skill: 'ask' });
    const canceled = await call(world, `/v1/tasks/${task.taskId}/cancel`, { method: 'POST' });
    expect(canceled.json.status.state).toBe('TASK_STATE_CANCELED');
    expect(reasonOf(await call(world, `/v1/tasks/${task.taskId}/cancel`, { method: 'POST' }))).toBe(
      'TASK_NOT_CANCELABLE',
    );
  });

  test('have runs and turns', async () => {
    const { task } = await create({ text: 'x', skill: 'ask' });
    await create({ text: 'y', taskId: task.taskId });
    const { json } = await call(world, `/v1/tasks/${task.taskId}/runs`);
    expect(json.runs.map((run: Wire) => [run.turn, run.attempt, run.state, run.outcome])).toEqual([
      [1, 1, 'settled', 'parked'],
      [1, 2, 'settled', 'succeeded'],
    ]);
    expect(json.turns).toMatchObject([{ turn: 1, skill: 'ask', attempts: 2, crashes: 0, agentVersion: '7' }]);
    expect(json.runs[0]).toMatchObject({ taskId: task.taskId, sessionId: task.sessionId, threadId: task.threadId });
  });
});

describe('the log', () => {
  test('is paged', async () => {
    const { task } = await create({ text: 'hi' });
    const whole = (await call(world, `/v1/tasks/${task.taskId}/events`)).json;
    expect(whole.events.map((event: Wire) => event.seq)).toEqual(
      whole.events.map((_: Wire, index: number) => index + 1),
    );
    expect(whole.events.map((event: Wire) => event.kind).slice(0, 2)).toEqual(['task-created', 'message-received']);
    expect(whole.headSeq).toBe(whole.events.length);
    const page = (await call(world, `/v1/tasks/${task.taskId}/events?after=2&limit=3`)).json;
    expect(page.events).toEqual(whole.events.slice(2, 5));
    const rest = await call(world, `/v1/tasks/${task.taskId}/events`, {
      headers: { ...EVENTS.headers, 'last-event-id': page.cursor },
    });
    expect(framesOf(rest.text).map(({ data }) => data)).toEqual(whole.events.slice(5));
    expect((await call(world, `/v1/tasks/${task.taskId}/events?after=${whole.headSeq}`)).json.events).toEqual([]);
    expect(fieldsOf(await call(world, `/v1/tasks/${task.taskId}/events?after=-1`))).toEqual(['after']);
    expect(fieldsOf(await call(world, `/v1/tasks/${task.taskId}/events?limit=501`))).toEqual(['limit']);
  });

  test('names each event, its place and its ids', async () => {
    const { task } = await create({ text: 'hi' });
    const { text } = await call(world, `/v1/tasks/${task.taskId}/events`, EVENTS);
    const started = text.split('\n\n').find((frame) => frame.includes('event: run-started')) ?? '';
    expect(started).toMatch(
      /^id: [0-9a-zA-Z]+-\d+\nevent: run-started\ndata: \{"seq":\d+,"kind":"run-started","at":"[^"]+Z",/,
    );
    const last = framesOf(text).at(-1);
    expect(last?.data).toMatchObject({ kind: 'status-changed', state: 'TASK_STATE_COMPLETED', taskId: task.taskId });
  });

  test('is the same after the end, and from any cursor', async () => {
    const { task } = await create({ text: 'hi' });
    const follow = (cursor?: string) =>
      call(world, `/v1/tasks/${task.taskId}/events`, {
        headers: { ...EVENTS.headers, ...(cursor === undefined ? {} : { 'last-event-id': cursor }) },
      });
    const all = framesOf((await follow()).text);
    expect(framesOf((await follow('')).text)).toEqual(all);
    for (const [index, { id }] of all.entries())
      expect(framesOf((await follow(id)).text)).toEqual(all.slice(index + 1));
    for (const bad of ['garbage', '-1', '0-1-2', `${all.at(-1)?.id}0`]) {
      expect([bad, fieldsOf(await follow(bad))]).toEqual([bad, ['Last-Event-ID']]);
    }
  });

  test('of another incarnation begins with a snapshot', async () => {
    const { task } = await create({ text: 'hi' });
    const headers = { ...EVENTS.headers, 'last-event-id': 'restored-3' };
    const frames = framesOf((await call(world, `/v1/tasks/${task.taskId}/events`, { headers })).text);
    expect(frames).toMatchObject([{ event: 'snapshot', id: task.cursor, data: { taskId: task.taskId } }]);
  });

  test('asked for by HEAD is no stream', async () => {
    const { task } = await create({ text: 'hi' });
    const answer = await call(world, `/v1/tasks/${task.taskId}/events`, { ...EVENTS, method: 'HEAD' });
    expect(answer.headers['content-type']).toBe('application/json');
  });
});

describe('artifacts', () => {
  test('are listed, fetched as files where they are one, else as JSON', async () => {
    const { task } = await create({ text: 'x', skill: 'file' });
    const { json } = await call(world, `/v1/tasks/${task.taskId}/artifacts`);
    const [file, mixed] = json.artifacts;
    expect(file).toMatchObject({ origin: 'output', turn: 1, isComplete: true });
    const bytes = await call(world, `/v1/tasks/${task.taskId}/artifacts/${file.artifactId}`);
    expect(bytes.text).toBe('<b>✓');
    expect(bytes.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-disposition': `attachment; filename="r_sum_ _1_.html"; filename*=UTF-8''r%C3%A9sum%C3%A9%20%221%22.html`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    });
    const asJson = await call(world, `/v1/tasks/${task.taskId}/artifacts/${file.artifactId}`, JSON_ONLY);
    expect(asJson.json.parts).toHaveLength(2);
    const both = await call(world, `/v1/tasks/${task.taskId}/artifacts/${mixed.artifactId}`);
    expect(both.json.parts).toMatchObject([{ text: 'text' }, { data: [1] }]);
  });

  test('of the client are inputs', async () => {
    const { task } = await create({
      parts: [{ raw: 'AAEC', filename: 'a.bin', mediaType: 'application/x-a' }, { text: 'x' }],
    });
    const { json } = await call(world, `/v1/tasks/${task.taskId}/artifacts`);
    const input = json.artifacts.find((artifact: Wire) => artifact.origin === 'input');
    const answer = await world.handle({ path: `/v1/tasks/${task.taskId}/artifacts/${input.artifactId}` });
    expect([...(answer.body as Uint8Array)]).toEqual([0, 1, 2]);
    expect(answer.headers['content-type']).toBe('application/x-a');
    expect(task.artifacts).toHaveLength(1);
  });

  test('that are not there are told from tasks that are not', async () => {
    const { task } = await create({ text: 'x' });
    expect(reasonOf(await call(world, `/v1/tasks/${task.taskId}/artifacts/nope`))).toBe('ARTIFACT_NOT_FOUND');
    expect(reasonOf(await call(world, '/v1/tasks/nope/artifacts/nope'))).toBe('TASK_NOT_FOUND');
  });
});

describe('agents', () => {
  test('are listed', async () => {
    const { json } = await call(world, '/v1/agents');
    expect(json.agents.map((agent: Wire) => [agent.name, agent.isDefault, agent.cardUrl])).toEqual([
      ['door', true, `${world.url}/agents/door/.well-known/agent-card.json`],
      ['other', false, `${world.url}/agents/other/.well-known/agent-card.json`],
    ]);
    expect(json.agents[0].skills).toContainEqual({ id: 'ping', kind: 'reply', description: 'Answers at once.' });
  });

  test('are chosen by path or by query, which must agree', async () => {
    const { task } = await create({ text: 'x' }, '/agents/other/v1/tasks');
    expect(task.agent).toBe('other');
    expect((await call(world, `/v1/tasks/${task.taskId}?agent=other`)).json.taskId).toBe(task.taskId);
    expect((await call(world, `/v1/tasks/${task.taskId}`)).status).toBe(404);
    expect(fieldsOf(await call(world, '/agents/other/v1/tasks?agent=door'))).toEqual(['agent']);
    expect(reasonOf(await call(world, '/v1/tasks?agent=nobody'))).toBe('AGENT_NOT_FOUND');
  });
});

test.each([
  ['PUT', '/v1/tasks', 405],
  ['GET', '/v1/tasks/t/cancel', 405],
  ['GET', '/v1/nothing', 404],
  ['GET', '/v1', 404],
])('%s %s is %i', async (method, path, status) => {
  expect((await call(world, path, { method })).status).toBe(status);
});
