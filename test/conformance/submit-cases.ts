import { describe, expect, test } from 'vitest';
import type { ContextId, MessageId, TaskId, ThreadId } from '../../src/model/ids.ts';
import type { SubmitResult } from '../../src/store/contract.ts';
import {
  AGENT,
  FIRST_TURN,
  fingerprintOf,
  OTHER_AGENT,
  OTHER_SCOPE,
  REFUSED,
  received,
  SCOPE,
  status,
  text,
  userMessage,
} from './builders.ts';
import type { OpenWorld } from './store-suite.ts';

export function describeSubmits(open: OpenWorld): void {
  describe('submit', () => {
    describeNewTasks(open);
    describeSessions(open);
    describeDedupe(open);
    describeRefusedSubmits(open);
  });
}

function describeNewTasks(open: OpenWorld): void {
  test('creates the task row from its events', async () => {
    const world = await open();
    const now = world.clock.now();
    const request = world.submitRequest({ more: { trace: 'f'.repeat(32), metadata: { b: 1, a: [null] } } });
    const result = await world.scoped().submit(request);
    if (result.kind !== 'created') throw new Error(result.kind);
    expect(result.task).toEqual({
      no: expect.any(Number),
      id: request.taskId,
      agent: AGENT,
      scope: SCOPE,
      sessionNo: expect.any(Number),
      contextId: request.contextId,
      threadId: request.threadId,
      state: 'submitted',
      stateAt: now,
      statusSeq: 3,
      headSeq: 3,
      headAt: now,
      generation: 1,
      createdAt: now,
      turnNo: 1,
      fence: 0,
      emitNo: 0,
      trace: 'f'.repeat(32),
      metadata: { b: 1, a: [null] },
    });
    expect(Object.keys(result.task.metadata ?? {})).toEqual(['b', 'a']);
    expect(result.events).toEqual(request.events.map((event, index) => ({ ...event, seq: index + 1, at: now })));
    expect(await world.events(result.task)).toEqual(result.events);
    expect((await world.scoped().readTask(request.taskId))?.task).toEqual(result.task);
  });

  test('creates the turn and its queued run', async () => {
    const world = await open();
    const { task } = await world.submit({ delayMs: 500 });
    const view = await world.scoped().readTask(task.id);
    const turn = {
      turnNo: FIRST_TURN,
      state: 'current',
      messageId: expect.any(String),
      messageSeq: 2,
      skill: 'default',
      principal: { id: 'issuer|ann' },
      agentVersion: 'v1',
      attempts: 0,
      crashes: 0,
    };
    const run = {
      no: expect.any(Number),
      id: expect.any(String),
      turnNo: FIRST_TURN,
      attempt: 1,
      state: 'queued',
      runnableAt: world.clock.now() + 500,
    };
    expect(view).toEqual({ task, turn, run, open: [], queued: [] });
    expect(await world.scoped().listTurns(task.id)).toEqual([turn]);
    expect(await world.scoped().listRuns(task.id)).toEqual([run]);
  });

  test('keeps the roles of the principal', async () => {
    const world = await open();
    const request = world.submitRequest();
    const principal = { id: 'issuer|bob', roles: ['operator', 'finance'] };
    await world.scoped().submit({ ...request, turn: { ...request.turn, principal } });
    expect((await world.scoped().readTask(request.taskId))?.turn.principal).toEqual(principal);
  });

  test('with grantTo leases the run in the same transaction, as a claim would', async () => {
    const world = await open();
    const worker = await world.worker();
    const request = world.submitRequest({ grantTo: worker, more: { trace: 'a'.repeat(32) } });
    const result = await world.scoped().submit(request);
    if (result.kind !== 'created') throw new Error(result.kind);
    const { task, grant, events } = result;
    expect(task).toMatchObject({ state: 'working', headSeq: 5, statusSeq: 5, generation: 2, fence: 1, emitNo: 0 });
    expect(events.slice(3)).toEqual([
      {
        kind: 'run-started',
        runId: request.run.id,
        turnNo: 1,
        attempt: 1,
        workerId: worker.workerId,
        seq: 4,
        at: task.headAt,
      },
      { kind: 'status-changed', state: 'working', seq: 5, at: task.headAt },
    ]);
    expect(grant?.events).toEqual(events.slice(3));
    expect(await world.events(task)).toEqual(events);
    expect(await world.claim(worker)).toEqual([]);

    const claimed = await world.submit({ contextId: request.contextId, more: { trace: 'a'.repeat(32) } });
    const [other] = await world.claim(worker);
    expect({ ...grant, ...different(other) }).toEqual(other);
    expect(other?.taskId).toBe(claimed.task.id);
  });

  test('keeps the encrypted message until the turn settles', async () => {
    const world = await open();
    const input = Uint8Array.from([0, 1, 127, 128, 255]);
    const { grant } = await world.start({ input });
    const material = await world.store.readTurn(grant);
    expect(Array.from(material.input ?? [])).toEqual(Array.from(input));
  });
}

/** What two grants of different tasks may differ in. */
function different(grant: unknown) {
  const { taskNo, taskId, runNo, runId, turn, events } = grant as Record<string, unknown>;
  return { taskNo, taskId, runNo, runId, turn, events };
}

function describeSessions(open: OpenWorld): void {
  test('opens the session of an unknown context', async () => {
    const world = await open();
    const request = world.submitRequest();
    expect(await world.scoped().readSession(request.contextId)).toBeUndefined();
    const result = await world.scoped().submit(request);
    if (result.kind !== 'created') throw new Error(result.kind);
    expect(await world.scoped().readSession(request.contextId)).toEqual({
      no: result.task.sessionNo,
      agent: AGENT,
      contextId: request.contextId,
      threadId: request.threadId,
      createdAt: world.clock.now(),
    });
  });

  test('opens an empty session by itself, once, and a submit joins it', async () => {
    const world = await open();
    const contextId = 'opened' as ContextId;
    const opened = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        world.scoped().openSession({ contextId, threadId: `thread-${index}` as ThreadId }),
      ),
    );
    expect(new Set(opened.map(({ no }) => no)).size).toBe(1);
    expect(new Set(opened.map(({ threadId }) => threadId)).size).toBe(1);
    expect(await world.scoped().readSession(contextId)).toEqual(opened[0]);
    expect(opened[0]).toMatchObject({ agent: AGENT, contextId, createdAt: world.clock.now() });
    const { task } = await world.submit({ contextId });
    expect([task.sessionNo, task.threadId]).toEqual([opened[0]?.no, opened[0]?.threadId]);
    const other = await world.scoped(AGENT, OTHER_SCOPE).openSession({ contextId, threadId: 'other' as ThreadId });
    expect(other.no).not.toBe(opened[0]?.no);
  });

  test('joins a known context, which keeps its thread', async () => {
    const world = await open();
    const { task: first } = await world.submit();
    const { task: second } = await world.submit({ contextId: first.contextId });
    expect(second.sessionNo).toBe(first.sessionNo);
    expect(second.threadId).toBe(first.threadId);
    expect(second.no).not.toBe(first.no);
  });

  test.each([
    ['scope', { scope: OTHER_SCOPE }],
    ['agent', { agent: OTHER_AGENT }],
  ])('opens a session of its own where another %s has one of that name', async (_what, where) => {
    const world = await open();
    const { task: first } = await world.submit();
    const { task: second } = await world.submit({ ...where, contextId: first.contextId });
    expect(second.sessionNo).not.toBe(first.sessionNo);
    expect(second.threadId).not.toBe(first.threadId);
  });

  test('of 20 submits at once into one unknown context opens one session', async () => {
    const world = await open();
    const contextId = 'shared' as ContextId;
    const results = await Promise.all(Array.from({ length: 20 }, () => world.submit({ contextId })));
    expect(new Set(results.map(({ task }) => task.sessionNo)).size).toBe(1);
    expect(new Set(results.map(({ task }) => task.threadId)).size).toBe(1);
    expect(new Set(results.map(({ task }) => task.no)).size).toBe(20);
    expect((await world.scoped().listSessions({ pageItems: 10 })).items).toHaveLength(1);
  });
}

function describeDedupe(open: OpenWorld): void {
  test('of 20 submits at once of one message creates one task', async () => {
    const world = await open();
    const messageId = 'once' as MessageId;
    const requests = Array.from({ length: 20 }, () => world.submitRequest({ messageId }));
    const results = await Promise.all(requests.map((request) => world.scoped().submit(request)));
    const created = results.filter((result) => result.kind === 'created');
    expect(created).toHaveLength(1);
    const { task } = created[0] as SubmitResult & { kind: 'created' };
    const message = {
      fingerprint: fingerprintOf('a'),
      state: 'task',
      taskId: task.id,
      taskNo: task.no,
      turnNo: 1,
      messageSeq: 2,
    };
    const repeated = results.filter((result) => result.kind === 'repeated');
    expect(repeated).toEqual(Array.from({ length: 19 }, () => ({ kind: 'repeated', message })));
    expect(await world.scoped().countTasks({})).toBe(1);
    expect((await world.scoped().listSessions({ pageItems: 10 })).items).toHaveLength(1);
    expect(await world.scoped().findMessage(messageId)).toEqual(message);
  });

  test('gives a repeat with other content the fingerprint of the first', async () => {
    const world = await open();
    const messageId = 'once' as MessageId;
    await world.submit({ messageId, fingerprint: { version: 2, digest: 'a'.repeat(64) } });
    const repeat = await world
      .scoped()
      .submit(world.submitRequest({ messageId, fingerprint: { version: 3, digest: 'b'.repeat(64) } }));
    expect(repeat).toMatchObject({
      kind: 'repeated',
      message: { fingerprint: { version: 2, digest: 'a'.repeat(64) } },
    });
  });

  test('remembers a message as long as its task, whatever its state', async () => {
    const world = await open();
    const messageId = 'once' as MessageId;
    const task = await world.complete({ messageId });
    await world.clock.advance('400d');
    const repeat = await world.scoped().submit(world.submitRequest({ messageId }));
    expect(repeat).toMatchObject({ kind: 'repeated', message: { state: 'task', taskId: task.id } });
  });

  test.each([
    ['scope', { scope: OTHER_SCOPE }],
    ['agent', { agent: OTHER_AGENT }],
  ])('takes the same id in another %s for another message', async (_what, where) => {
    const world = await open();
    const messageId = 'once' as MessageId;
    await world.submit({ messageId });
    expect((await world.submit({ ...where, messageId })).kind).toBe('created');
  });

  test('without idempotency remembers nothing', async () => {
    const world = await open();
    const messageId = 'again' as MessageId;
    await world.submit({ messageId, idempotency: 'off' });
    expect(await world.scoped().findMessage(messageId)).toBeUndefined();
    await world.submit({ messageId, idempotency: 'off' });
    expect(await world.scoped().countTasks({})).toBe(2);
  });
}

function describeRefusedSubmits(open: OpenWorld): void {
  test('that breaks a rule writes nothing: a task id is used once', async () => {
    const world = await open();
    const { task } = await world.submit();
    const before = await world.everything(task);
    const messageId = 'refused' as MessageId;
    const contextId = 'refused' as ContextId;
    const request = world.submitRequest({ taskId: task.id, messageId, contextId });
    await expect(world.scoped().submit(request)).rejects.toMatchObject(REFUSED);
    await expect(world.scoped(AGENT, OTHER_SCOPE).submit(request)).rejects.toMatchObject(REFUSED);
    expect(await world.scoped().findMessage(messageId)).toBeUndefined();
    expect(await world.scoped().readSession(contextId)).toBeUndefined();
    expect(await world.scoped(AGENT, OTHER_SCOPE).readSession(contextId)).toBeUndefined();
    expect(await world.everything(task)).toEqual(before);
    expect(await world.store.stats()).toMatchObject({ sessions: 1, events: 3 });
    await world.submit({ messageId, contextId });
  });

  test('that breaks a rule writes nothing: a run id is used once', async () => {
    const world = await open();
    const first = world.submitRequest();
    await world.scoped().submit(first);
    const second = world.submitRequest({ taskId: 'second' as TaskId });
    await expect(world.scoped().submit({ ...second, run: first.run })).rejects.toMatchObject(REFUSED);
    expect(await world.scoped().readTask('second' as TaskId)).toBeUndefined();
    expect(await world.store.stats()).toMatchObject({ sessions: 1, events: 3, runs: { queued: 1 } });
  });

  test('places the events of a message with parts and inputs in order', async () => {
    const world = await open();
    const request = world.submitRequest();
    const message = userMessage(request.turn.messageId, [text('a'), text('b')]);
    const events = [{ kind: 'task-created' as const }, received(message, FIRST_TURN), status('submitted')];
    const result = await world.scoped().submit({ ...request, events });
    expect(result).toMatchObject({ events: [{ seq: 1 }, { seq: 2, message }, { seq: 3 }] });
  });
}
