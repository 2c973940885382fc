import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServerWorld, startWorld } from '../../src/testing/server-world.ts';
import { verifies } from '../requirements.ts';
import { doorMakers, messageOf, okOf, readAll, refusalOf } from './door.ts';
import { nativeDoor } from './native-door.ts';
import { Gates, scenarioAgent } from './scenario-agent.ts';

describe.each(doorMakers)('%o', (makeDoor) => {
  const gates = new Gates();
  let world: ServerWorld;
  beforeAll(async () => {
    world = await startWorld({ agents: [scenarioAgent(gates)] });
  });
  afterAll(() => world.close());
  const door = () => makeDoor({ url: world.url });

  test(`a send waits for the end and answers with the whole task ${verifies('send.blocking', 'send.task-or-message', 'context.generated', 'task.id-unique')}`, async () => {
    const first = okOf(await door().send({ skill: 'echo', text: 'hi' })).task;
    expect(first.status.state).toBe('TASK_STATE_COMPLETED');
    expect(first.artifacts[0].parts[0].text).toBe('echo: hi');
    expect(first.contextId).toMatch(/./);
    const second = okOf(await door().send({ skill: 'echo', text: 'hi', contextId: 'my-context' })).task;
    expect(second.contextId).toBe('my-context');
    expect(second.id).not.toBe(first.id);
  });

  test(`returnImmediately answers with the stored task ${verifies('send.return-immediately')}`, async () => {
    const task = okOf(
      await door().send({ skill: 'hold', text: 'later', configuration: { returnImmediately: true } }),
    ).task;
    expect(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']).toContain(task.status.state);
    expect(okOf(await door().get(task.id)).id).toBe(task.id);
    gates.open('later');
  });

  test(`a reply is one Message, and leaves no task ${verifies('send.task-or-message', 'stream.message-only')}`, async () => {
    const before = okOf(await door().list()).totalSize;
    const answer = okOf(await door().send({ skill: 'ping', text: 'x' }));
    expect(answer.message.parts[0].text).toBe('pong x');
    expect(answer.message.role).toBe('ROLE_AGENT');
    expect(answer.message.contextId).toMatch(/./);
    const frames = await readAll(await door().stream({ skill: 'ping', text: 'y' }));
    expect(frames).toHaveLength(1);
    expect(frames[0].message.parts[0].text).toBe('pong y');
    expect(okOf(await door().list()).totalSize).toBe(before);
  });

  test(`a message to an unknown task is TaskNotFound ${verifies('send.unknown-task', 'get.unknown')}`, async () => {
    const before = okOf(await door().list()).totalSize;
    expect(refusalOf(await door().send({ taskId: 'nope' })).reason).toBe('TASK_NOT_FOUND');
    expect(refusalOf(await door().get('nope')).reason).toBe('TASK_NOT_FOUND');
    expect(okOf(await door().list()).totalSize).toBe(before);
  });

  test(`an answer continues the task, once ${verifies('input-required.continues', 'context.inferred', 'history.once')}`, async () => {
    const asked = okOf(await door().send({ skill: 'ask', text: 'begin' })).task;
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(asked.status.message.parts[0].text).toBe('How many?');
    expect(asked.status.message.parts[1].data.askId).toMatch(/./);
    const answer = { messageId: `answer-${makeDoor.name}`, taskId: asked.id, parts: [{ data: { count: 3 } }] };
    const done = okOf(await door().send(answer)).task;
    const again = okOf(await door().send(answer)).task;
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');
    expect(done.contextId).toBe(asked.contextId);
    expect(again).toEqual(done);
    const { body } = await nativeDoor({ url: world.url }).get(`/v1/tasks/${asked.id}/runs`);
    expect(body.runs).toHaveLength(2);
    expect(done.history.map((message: { role: string }) => message.role)).toEqual([
      'ROLE_USER',
      'ROLE_AGENT',
      'ROLE_USER',
    ]);
    expect(new Set(done.history.map((message: { messageId: string }) => message.messageId)).size).toBe(3);
  });

  test(`an answer that does not fit names its field, and the question stays open ${verifies('error.validation')}`, async () => {
    const asked = okOf(await door().send({ skill: 'ask', text: 'begin' })).task;
    const refused = refusalOf(await door().send({ taskId: asked.id, parts: [{ data: { count: 'three' } }] }));
    expect(refused.message).toContain('count');
    expect(okOf(await door().get(asked.id))).toEqual(asked);
    const unfit = okOf(await door().send({ taskId: asked.id, text: 'many' })).task;
    expect(unfit.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(okOf(await door().send({ taskId: asked.id, text: '4' })).task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test(`another contextId is refused and nothing is stored ${verifies('context.mismatch')}`, async () => {
    const asked = okOf(await door().send({ skill: 'ask', text: 'begin' })).task;
    const refused = refusalOf(
      await door().send({ taskId: asked.id, contextId: 'other', parts: [{ data: { count: 1 } }] }),
    );
    expect(JSON.stringify(refused.body)).toContain('contextId');
    expect(okOf(await door().get(asked.id))).toEqual(asked);
  });

  test.each(['signin', 'signin-by-return'])(
    `%s is cleared by a message, or by native resume ${verifies('auth-required.message', 'auth-required.cleared')}`,
    async (skill) => {
      for (const how of ['message', 'resume']) {
        const asked = okOf(await door().send({ skill, text: 'begin' })).task;
        expect(asked.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
        expect(asked.status.message.parts[0].text).toMatch(/sign/i);
        const native = nativeDoor({ url: world.url });
        if (how === 'message') await door().send({ taskId: asked.id, text: 'signed in' });
        else expect((await native.post(`/v1/tasks/${asked.id}/resume`)).status).toBe(200);
        const frames = await native.follow(asked.id);
        expect(frames.at(-1)?.value.state).toBe('TASK_STATE_COMPLETED');
        expect((await native.get(`/v1/tasks/${asked.id}/runs`)).body.runs).toHaveLength(2);
      }
    },
  );

  test(`historyLength: unset, none, some ${verifies('send.history-length')}`, async () => {
    const asked = okOf(await door().send({ skill: 'ask', text: 'begin' })).task;
    const done = okOf(await door().send({ taskId: asked.id, parts: [{ data: { count: 2 } }] })).task;
    expect(okOf(await door().get(done.id)).history).toHaveLength(3);
    expect(okOf(await door().get(done.id, { historyLength: 0 })).history).toBeUndefined();
    expect(okOf(await door().get(done.id, { historyLength: 1 })).history).toHaveLength(1);
    expect(okOf(await door().get(done.id, { historyLength: 99 })).history).toHaveLength(3);
    expect(refusalOf(await door().get(done.id, { historyLength: -1 })).message).toContain('historyLength');
  });

  test(`a part of a type that the skill does not take is refused ${verifies('send.content-type')}`, async () => {
    expect(
      refusalOf(await door().send({ skill: 'picky', parts: [{ text: 'x', mediaType: 'text/plain' }] })).reason,
    ).toBe('CONTENT_TYPE_NOT_SUPPORTED');
  });

  test(`an answer may be of another type than the skill's input ${verifies('send.content-type', 'input-required.continues')}`, async () => {
    const image = { raw: Buffer.from('png').toString('base64'), mediaType: 'image/png' };
    for (const answer of [{ text: 'a cat' }, { data: 'a cat' }]) {
      const asked = okOf(await door().send({ skill: 'picky-ask', parts: [image] })).task;
      const task = okOf(await door().send({ taskId: asked.id, parts: [answer] })).task;
      expect([task.status.state, task.artifacts[0].parts[0].text]).toEqual(['TASK_STATE_COMPLETED', 'a cat']);
    }
  });

  test(`a handler's own error never shows its text ${verifies('error.no-leak')}`, async () => {
    const task = okOf(await door().send({ skill: 'crash', text: 'x' })).task;
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(JSON.stringify(task)).not.toContain('hunter2');
    const told = okOf(await door().send({ skill: 'fail', text: 'x' })).task;
    expect(told.status.message.parts[0].text).toBe('no luck');
  });

  test(`typed input is refused by its fields, and nothing is stored ${verifies('error.validation')}`, async () => {
    const before = okOf(await door().list()).totalSize;
    const refused = refusalOf(await door().send({ skill: 'typed', parts: [{ data: { order: '1', cents: -1 } }] }));
    expect(refused.message).toContain('cents');
    expect(refused.message).toContain('order');
    expect(okOf(await door().list()).totalSize).toBe(before);
  });

  test.each(['agent', 'User', 'ROLE_AGENT', 'ROLE_UNSPECIFIED', 7])(
    `role %j is refused ${verifies('json.lenient-read')}`,
    async (role) => {
      expect(refusalOf(await door().send({ skill: 'echo', role })).message).toContain('role');
    },
  );

  test.each(['user', 'ROLE_USER', 1])(`role %j is taken ${verifies('json.lenient-read')}`, async (role) => {
    expect(okOf(await door().send({ skill: 'echo', role })).task.history[0].role).toBe('ROLE_USER');
  });

  test(`what is written has no field of older versions ${verifies('json.camel-case', 'json.timestamps', 'json.unknown-fields')}`, async () => {
    const frames = await readAll(await door().stream({ skill: 'echo', text: 'x', surprise: { deep: [1] } }));
    const text = JSON.stringify(frames);
    expect(text).not.toMatch(/"(final|kind|context_id|task_id)"/);
    for (const [, stamp] of text.matchAll(/"timestamp":"([^"]+)"/g))
      expect(stamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    for (const [, state] of text.matchAll(/"state":"([^"]+)"/g)) expect(state).toMatch(/^TASK_STATE_/);
  });

  test.each([
    ['messageId', { ...messageOf({}), messageId: '' }],
    ['parts', { ...messageOf({}), parts: [] }],
    ['parts[0]', { ...messageOf({}), parts: [{}] }],
    ['raw', { ...messageOf({}), parts: [{ raw: '***' }] }],
    ['role', { ...messageOf({}), role: undefined }],
    ['messageId', { ...messageOf({}), messageId: 'x'.repeat(257) }],
  ])(`a bad %s is named ${verifies('json.required', 'error.validation')}`, async (field, message) => {
    const refused = refusalOf(await door().send(message as never));
    expect(JSON.stringify(refused.body)).toContain(field);
  });
});
