import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServerWorld, startWorld } from '../../src/testing/server-world.ts';
import { verifies } from '../requirements.ts';
import { doorMakers, jsonRpcDoor, okOf, type Wire } from './door.ts';
import { nativeDoor } from './native-door.ts';
import { Gates, scenarioAgent } from './scenario-agent.ts';

const CORRELATION = 'https://holdfast.dev/a2a/v1/correlation';
const TRACE = '0af7651916cd43dd8448eb211c80319c';

describe('native REST and A2A are two doors to the same rows', () => {
  const gates = new Gates();
  let world: ServerWorld;
  beforeAll(async () => {
    world = await startWorld({ agents: [scenarioAgent(gates)] });
  });
  afterAll(() => world.close());
  const native = () => nativeDoor({ url: world.url });

  test.each(doorMakers)(
    `begun over %o: listed, followed, answered and fetched over native ${verifies('native.same-rows', 'bindings.equal')}`,
    async (makeDoor) => {
      const door = makeDoor({ url: world.url });
      const asked = okOf(await door.send({ skill: 'ask', text: 'x', contextId: `native-${door.name}` })).task;
      const listed = (await native().get(`/v1/tasks?contextId=native-${door.name}`)).body;
      expect(listed.tasks.map((task: Wire) => task.id)).toEqual([asked.id]);
      const following = native().follow(asked.id);
      const answered = await native().post(`/v1/sessions/native-${door.name}/messages`, {
        taskId: asked.id,
        parts: [{ data: { count: 2 } }],
      });
      expect(answered.status).toBe(200);
      const frames = await following;
      expect(frames.filter((frame) => frame.event === 'message-received')).toHaveLength(2);
      const done = okOf(await door.get(asked.id));
      expect(done.artifacts[0].parts[0].text).toBe('2 it is');
      const bytes = await fetch(`${world.url}/v1/tasks/${asked.id}/artifacts/${done.artifacts[0].artifactId}`);
      expect(await bytes.text()).toBe('2 it is');
    },
  );

  test.each(doorMakers)(
    `begun over native: followed and cancelled over %o ${verifies('native.same-rows', 'cancel.canceled')}`,
    async (makeDoor) => {
      const door = makeDoor({ url: world.url });
      const gate = `begun-native-${door.name}`;
      const session = (await native().post('/v1/sessions', {})).body;
      const begun = (
        await native().post('/v1/tasks', {
          message: {
            messageId: gate,
            role: 'ROLE_USER',
            contextId: session.sessionId,
            parts: [{ text: gate }],
            metadata: { skillId: 'hold' },
          },
          returnImmediately: true,
        })
      ).body.task;
      await gates.arrival(gate);
      expect(begun.contextId).toBe(session.sessionId);
      expect(okOf(await door.list({ contextId: session.sessionId })).totalSize).toBe(1);
      expect(okOf(await door.cancel(begun.id)).status.state).toBe('TASK_STATE_CANCELED');
      const aborted = (await native().post('/v1/sessions', {})).body.sessionId;
      const open = okOf(await door.send({ skill: 'ask', text: 'x', contextId: aborted })).task;
      await native().post(`/v1/sessions/${aborted}/abort`);
      expect(okOf(await door.get(open.id)).status.state).toBe('TASK_STATE_CANCELED');
    },
  );

  test(`session, task, run, thread and trace ids are equal everywhere ${verifies('native.same-rows')}`, async () => {
    const response = await fetch(`${world.url}/a2a/v1/message:send`, {
      method: 'POST',
      headers: {
        'a2a-version': '1.0',
        'content-type': 'application/json',
        traceparent: `00-${TRACE}-b7ad6b7169203331-01`,
      },
      body: JSON.stringify({
        message: { messageId: 'trace', role: 'ROLE_USER', parts: [{ text: 'x' }], metadata: { skillId: 'echo' } },
      }),
    });
    const { task } = (await response.json()) as Wire;
    const ids = task.metadata[CORRELATION];
    expect(ids).toMatchObject({ taskId: task.id, sessionId: task.contextId, traceId: TRACE });
    const { body: runs } = await native().get(`/v1/tasks/${task.id}/runs`);
    const { body: session } = await native().get(`/v1/sessions/${task.contextId}`);
    const { body: shown } = await native().get(`/v1/tasks/${task.id}`);
    expect(session.threadId).toBe(ids.threadId);
    expect(shown).toMatchObject({ taskId: task.id, sessionId: task.contextId, threadId: ids.threadId, traceId: TRACE });
    const frames = await native().follow(task.id);
    expect(frames.find((frame) => frame.event === 'run-started')?.value.runId).toBe(runs.runs[0].runId);
    for (const frame of frames)
      expect(frame.value).toMatchObject({
        taskId: task.id,
        sessionId: task.contextId,
        threadId: ids.threadId,
        traceId: TRACE,
      });
    const lines = world.logLines().filter((line) => line.taskId === task.id);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines)
      expect(line).toMatchObject({ sessionId: task.contextId, threadId: ids.threadId, traceId: TRACE });
    expect(lines.map((line) => line.runId)).toContain(runs.runs[0].runId);
  });

  test('A2A updates carry the same run id as the native log', async () => {
    const door = jsonRpcDoor({ url: world.url });
    const stream = await door.stream({ skill: 'echo', text: 'x' });
    if (!stream.ok) throw new Error('no stream');
    const correlations: Wire[] = [];
    for await (const frame of stream.stream.frames) {
      const update = frame.value.statusUpdate ?? frame.value.artifactUpdate;
      if (update !== undefined) correlations.push(update.metadata[CORRELATION]);
    }
    const { body } = await native().get(`/v1/tasks/${correlations[0].taskId}/runs`);
    expect(correlations.at(-1).runId).toBe(body.runs[0].runId);
  });
});
