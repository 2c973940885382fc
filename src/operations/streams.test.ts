import { describe, expect, test } from 'vitest';
import { clientMessage, doorAgent } from '../testing/door-agent.ts';
import { call, framesOf, open, type Wire } from '../testing/door-calls.ts';
import { type ServerWorld, startWorld } from '../testing/server-world.ts';

const CORRELATION = 'https://holdfast.dev/a2a/v1/correlation';

async function withWorld(
  options: Partial<Parameters<typeof startWorld>[0]>,
  work: (world: ServerWorld) => Promise<void>,
) {
  const world = await startWorld({ agents: [doorAgent()], ...options });
  try {
    await work(world);
  } finally {
    await world.close();
  }
}

const send = async (world: ServerWorld, message: Wire, configuration?: Wire): Promise<Wire> =>
  (
    await call(world, '/a2a/v1/message:send', {
      body: { message, ...(configuration === undefined ? {} : { configuration }) },
    })
  ).json;
const stream = (world: ServerWorld, message: Wire) => open(world, '/a2a/v1/message:stream', { body: { message } });
const readAll = async (response: Awaited<ReturnType<typeof stream>>): Promise<readonly Wire[]> => {
  let text = '';
  for await (const piece of response.body as AsyncIterable<string>) text += piece;
  return framesOf(text).map(({ data }) => data);
};

describe('a sent stream', () => {
  test('goes on over a question where the switch says so', async () => {
    await withWorld({ config: { a2a: { streamEndsAtInputRequired: false } } }, async (world) => {
      const pieces = (await stream(world, clientMessage({ skill: 'ask' }))).body as AsyncIterable<string>;
      let text = '';
      for await (const piece of pieces) {
        text += piece;
        if (!text.includes('TASK_STATE_INPUT_REQUIRED') || text.includes('answer-it')) continue;
        const taskId = framesOf(text)[0]?.data.task.id;
        await send(world, clientMessage({ taskId, messageId: 'answer-it' }), { returnImmediately: true });
        text += ': answer-it\n\n';
      }
      expect(framesOf(text).at(-1)?.data.statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
    });
  });

  test('of a message that was answered is the task, then the end', async () => {
    await withWorld({}, async (world) => {
      const asked = clientMessage({ skill: 'ask' });
      await readAll(await stream(world, asked));
      const again = await readAll(await stream(world, asked));
      expect(again).toHaveLength(1);
      expect(again[0].task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      const done = clientMessage();
      await send(world, done);
      expect((await readAll(await stream(world, done))).map((frame) => Object.keys(frame))).toEqual([['task']]);
    });
  });
});

test('updates carry the run they are of, for whoever joins when', async () => {
  await withWorld({}, async (world) => {
    const { task } = await send(world, clientMessage({ skill: 'ask' }));
    const early = readAll(await open(world, `/a2a/v1/tasks/${task.id}:subscribe`));
    await send(world, clientMessage({ taskId: task.id }));
    const runs = (await call(world, `/v1/tasks/${task.id}/runs`)).json.runs.map((run: Wire) => run.runId);
    const updates = (await early).flatMap((frame) => frame.statusUpdate ?? frame.artifactUpdate ?? []);
    expect(updates.at(-1).metadata[CORRELATION].runId).toBe(runs[1]);
    expect(updates.filter((update: Wire) => update.artifact !== undefined)[0].metadata[CORRELATION].runId).toBe(
      runs[1],
    );
    const held = (await send(world, clientMessage({ skill: 'hold' }), { returnImmediately: true })).task;
    while ((await call(world, `/v1/tasks/${held.id}`)).json.status.state !== 'TASK_STATE_WORKING') {
      await new Promise((resolve) => setImmediate(resolve));
    }
    const late = readAll(await open(world, `/a2a/v1/tasks/${held.id}:subscribe`));
    await call(world, `/a2a/v1/tasks/${held.id}:cancel`, { method: 'POST' });
    const [run] = (await call(world, `/v1/tasks/${held.id}/runs`)).json.runs;
    expect((await late).at(-1).statusUpdate).toMatchObject({
      status: { state: 'TASK_STATE_CANCELED' },
      metadata: { [CORRELATION]: { runId: run.runId, taskId: held.id } },
    });
  });
});

test('a list shows the newest ten messages of each task, unless it is told how many', async () => {
  await withWorld({}, async (world) => {
    const { task } = await send(world, clientMessage({ skill: 'ask' }));
    for (let turn = 0; turn < 6; turn += 1) {
      await send(world, clientMessage({ taskId: task.id, parts: [{ data: { not: 'text' } }] }));
    }
    const counted = async (query: string): Promise<number> =>
      (await call(world, `/a2a/v1/tasks${query}`)).json.tasks[0].history?.length ?? 0;
    const all = (await call(world, `/a2a/v1/tasks/${task.id}`)).json.history.length;
    expect(await counted('')).toBe(Math.min(10, all));
    expect(await counted('?historyLength=0')).toBe(0);
    expect(await counted('?historyLength=1')).toBe(1);
    expect(await counted('?historyLength=99')).toBe(all);
  });
});

test('an abort leaves what its agent lets nobody cancel', async () => {
  const agent = { ...doorAgent(), policy: { cancel: 'submitted-only' } as const };
  await withWorld({ agents: [agent] }, async (world) => {
    await send(world, clientMessage({ skill: 'ask', contextId: 'kept' }));
    const { json } = await call(world, '/v1/sessions/kept/abort', { method: 'POST' });
    expect(json.canceledTaskIds).toEqual([]);
  });
});

test('a page token finds nothing under other filters', async () => {
  await withWorld({}, async (world) => {
    for (let index = 0; index < 3; index += 1) await send(world, clientMessage());
    const { nextPageToken } = (await call(world, '/a2a/v1/tasks?pageSize=1')).json;
    const token = `pageToken=${nextPageToken}`;
    expect((await call(world, `/a2a/v1/tasks?pageSize=2&${token}`)).json.tasks).toHaveLength(2);
    for (const query of [`status=TASK_STATE_FAILED&${token}`, `contextId=x&${token}`]) {
      const { json } = await call(world, `/a2a/v1/tasks?${query}`);
      expect(json.error.details[1].fieldViolations[0].field).toBe('pageToken');
    }
  });
});

test('a page of large events is short, and a stream hands them on in pieces', async () => {
  await withWorld({}, async (world) => {
    const raw = Buffer.alloc(700_000).toString('base64');
    const { task } = await send(world, clientMessage({ skill: 'ask', parts: [{ raw }, { text: 'x' }] }));
    for (let turn = 0; turn < 3; turn += 1) {
      await send(world, clientMessage({ taskId: task.id, parts: [{ raw, mediaType: 'application/x' }] }));
    }
    const seqs: number[] = [];
    for (let after = 0, headSeq = 1; after < headSeq; after = seqs.at(-1) ?? 0) {
      const page = (await call(world, `/v1/tasks/${task.id}/events?after=${after}`)).json;
      expect(JSON.stringify(page).length).toBeLessThan(3_000_000);
      seqs.push(...page.events.map((event: Wire) => event.seq));
      headSeq = page.headSeq;
    }
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    const response = await open(world, `/v1/tasks/${task.id}/events`, { headers: { accept: 'text/event-stream' } });
    let text = '';
    for await (const piece of response.body as AsyncIterable<string>) {
      expect(piece.length).toBeLessThan(400_000);
      text += piece;
      if (text.endsWith('\n\n') && framesOf(text).some(({ data }) => data.seq === seqs.at(-1))) break;
    }
    const sent = framesOf(text).filter(({ event }) => event === 'message-received');
    expect(sent.map(({ data }) => data.message.parts[0].raw === raw)).toEqual([true, true]);
  });
});

test('a page of large tasks is short, and the next one goes on', async () => {
  await withWorld({}, async (world) => {
    const raw = Buffer.alloc(1_500_000).toString('base64');
    for (let index = 0; index < 7; index += 1) {
      await send(world, clientMessage({ parts: [{ raw }, { text: 'x' }] }));
    }
    const ids: string[] = [];
    const sizes: number[] = [];
    for (let token = ''; sizes.length === 0 || token !== ''; ) {
      const { json } = await call(world, `/a2a/v1/tasks?includeArtifacts=true&pageToken=${token}`);
      ids.push(...json.tasks.map((task: Wire) => task.id));
      sizes.push(json.tasks.length);
      expect(json.totalSize).toBe(7);
      token = json.nextPageToken;
    }
    expect(sizes).toEqual([2, 2, 2, 1]);
    expect(new Set(ids).size).toBe(7);
  });
});
