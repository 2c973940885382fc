import { describe, expect, test } from 'vitest';
import { defineAgent } from '../agent/define-agent.ts';
import { skill } from '../agent/definition.ts';
import { limits } from '../base/limits.ts';
import type { ContextId, MessageId, TaskId } from '../model/ids.ts';
import type { Message } from '../model/message.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { countingStore } from '../testing/intercepted-store.ts';
import { callerNamed, chunk, createNode, echoAgent, positiveCents, textMessage } from '../testing/runtime-node.ts';
import { openContent } from './thin-message.ts';

const question: Message = textMessage('q1', 'Which?', { role: 'agent' });

describe('a first message', () => {
  test('makes a task that its sender sees as submitted, and that this node begins at once', async () => {
    const { store, calls } = countingStore(await openMemoryStore({ clock: createFakeClock() }));
    const node = await createNode({ store });
    await node.start();
    await node.clock.advance(0);
    calls.clear();
    const sent = await node.sendTask('hello', { traceId: 'a'.repeat(32) });
    expect(Object.fromEntries(calls)).toEqual({ 'scoped.submit': 1 });
    expect(sent.first?.task).toMatchObject({ state: 'submitted', headSeq: 3, statusSeq: 3, generation: 1, turnNo: 1 });
    expect(sent.first?.content.history).toMatchObject([{ taskId: sent.task.id, contextId: sent.task.contextId }]);
    expect(sent).toMatchObject({ turnNo: 1, messageSeq: 2, repeated: false, task: { state: 'working' } });
    expect(sent.task.trace).toBe('a'.repeat(32));
    expect((await node.log(sent.taskNo)).map((event) => event.kind)).toEqual([
      'task-created',
      'message-received',
      'status-changed',
      'run-started',
      'status-changed',
    ]);
    const { grant, material } = node.engine.started[0]!;
    expect(material).toEqual(await store.readTurn(grant));
    expect(material?.task.deadline?.kind).toBe('idle');
  });

  test('waits in the queue where no slot is free, or the server drains', async () => {
    const node = await createNode({ slots: 0 });
    const sent = await node.sendTask('hello');
    expect(sent.task).toMatchObject({ state: 'submitted', deadline: { kind: 'queued' } });
    expect(node.engine.started).toEqual([]);
  });

  test('of a burst gets no more slots than there are', async () => {
    const node = await createNode({ slots: 3 });
    await node.start();
    const sent = await Promise.all(Array.from({ length: 20 }, (_item, at) => node.sendTask(`${at}`)));
    expect(sent.filter(({ task }) => task.state === 'working')).toHaveLength(3);
    expect(node.engine.started).toHaveLength(3);
    await node.stop();
  });

  test('in a context joins it, and opens one of that name in its own scope alone', async () => {
    const node = await createNode();
    const contextId = 'c1' as ContextId;
    const one = await node.sendTask({ messageId: 'a' as MessageId, contextId });
    const two = await node.sendTask({ messageId: 'b' as MessageId, contextId });
    const other = await node.sendTask({ messageId: 'a' as MessageId, contextId }, { caller: callerNamed('b') });
    expect(one.task.sessionNo).toBe(two.task.sessionNo);
    expect(other.task.sessionNo).not.toBe(one.task.sessionNo);
    expect(other).toMatchObject({ repeated: false, task: { contextId } });
    expect(other.task.threadId).not.toBe(one.task.threadId);
  });

  test('that its skill refuses leaves nothing, not even its id', async () => {
    const run = (): string => 'paid';
    const refund = skill({ description: 'Refunds.', input: positiveCents, run });
    const agent = defineAgent({ name: 'bank', description: 'A bank.', skills: { refund } });
    const node = await createNode({ agents: [agent] });
    const send = (cents: number) =>
      node.sendTask({ messageId: 'm1' as MessageId, parts: [{ kind: 'data', data: { cents } }] });
    await expect(send(0)).rejects.toMatchObject({ code: 'invalid_argument', message: /Nothing was stored/ });
    expect(await node.store.stats()).toMatchObject({ sessions: 0, events: 0 });
    expect((await send(5)).repeated).toBe(false);
  });

  test('brings its files as input artifacts, large ones in slices; a repeat makes none', async () => {
    const node = await createNode();
    const parts: Message['parts'] = [
      { kind: 'raw', raw: Uint8Array.of(1, 2), filename: 'small.bin' },
      { kind: 'text', text: 'see both' },
      { kind: 'raw', raw: new Uint8Array(limits.inlineRawBytesMax + 1), filename: 'large.bin' },
    ];
    const send = () => node.sendTask({ messageId: 'm1' as MessageId, parts });
    const { taskNo, task } = await send();
    expect((await send()).repeated).toBe(true);
    const inputs = (await node.log(taskNo)).filter((event) => event.kind === 'artifact-updated');
    expect(inputs).toMatchObject([
      { origin: 'input', header: { name: 'small.bin' }, parts: [{ kind: 'raw' }], lastChunk: true, append: false },
      { origin: 'input', header: { name: 'large.bin' }, parts: [{ kind: 'blob' }], lastChunk: true, turnNo: 1 },
    ]);
    expect(new Set(inputs.map((event) => event.artifactId)).size).toBe(2);
    const scoped = node.store.scoped(node.agent.name as never, task.scope);
    expect(await scoped.listArtifacts(task.id)).toHaveLength(2);
    await node.clock.advance('2h');
    expect(await node.store.dropStagedBlobs({ olderThanMs: 1, itemsMax: 10 })).toBe(0);
  });

  test('of an agent that keeps no content is sealed beside a log without a word of it', async () => {
    const agent = defineAgent({
      name: 'thin',
      description: 'Keeps nothing.',
      policy: { storeContent: false },
      run: (turn) => turn.text,
    });
    const node = await createNode({ agents: [agent] });
    await node.start();
    const message = textMessage('m1', 'a secret', { metadata: { note: 'secret' } });
    const { taskNo } = await node.sendTask(message);
    expect(JSON.stringify(await node.log(taskNo))).not.toContain('secret');
    const { grant } = node.engine.started[0]!;
    const { input, message: received } = await node.store.readTurn(grant);
    const { createSecrets } = await import('./secrets.ts');
    const opened = openContent(createSecrets(new Uint8Array(32).fill(7)), received.message, input!);
    expect(opened.parts).toEqual(message.parts);
    expect(opened.metadata).toEqual(message.metadata);
  });
});

describe('a message for a task', () => {
  const interrupted = { kind: 'interrupted', state: 'input-required', message: question } as const;

  async function createAsking(options: Parameters<typeof createNode>[0] = {}) {
    const node = await createNode(options);
    await node.start();
    const first = await node.sendTask(textMessage('m1', 'hello'));
    await node.settle(await node.engine.startedRun(1), interrupted);
    return { node, first, taskId: first.task.id, taskNo: first.taskNo };
  }

  test('of another caller, of another agent, and of nobody gets one answer', async () => {
    const { node, taskId } = await createAsking({
      agents: [echoAgent, defineAgent({ name: 'other', description: '-', run: (turn) => turn.text })],
    });
    const other = (
      await createNode({ agents: [defineAgent({ name: 'other', description: '-', run: (turn) => turn.text })] })
    ).agent;
    const answers = await Promise.all(
      [
        node.send({ taskId }, { caller: callerNamed('b') }),
        node.send({ taskId }, { agent: other }),
        node.send({ taskId: 'absent' as TaskId }),
      ].map((sent) =>
        sent.catch((error) => [error.code, error.message.replace(/\S+\.$/, 'ID'), Object.keys(error.detail)]),
      ),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toEqual(['task_not_found', 'There is no task ID', ['message', 'metadata']]);
  });

  test('with the context of another is refused, and nothing is stored', async () => {
    const { node, taskId, taskNo } = await createAsking();
    const head = (await node.log(taskNo)).length;
    await expect(node.send({ taskId, contextId: 'other' as ContextId })).rejects.toMatchObject({
      code: 'invalid_argument',
      detail: { violations: [{ field: 'message.contextId' }] },
    });
    expect(await node.log(taskNo)).toHaveLength(head);
  });

  test('that asks goes on with a new turn in one commit, granted here', async () => {
    const { node, taskId } = await createAsking();
    const answer = await node.sendTask(textMessage('m2', 'this one', { taskId }));
    expect(answer).toMatchObject({ turnNo: 2, repeated: false, task: { state: 'working' } });
    const grant = await node.engine.startedRun(2);
    expect(grant.turn).toMatchObject({ turnNo: 2, messageId: 'm2' });
    const kinds = (await node.log(answer.taskNo)).slice(answer.messageSeq - 1).map((event) => event.kind);
    expect(kinds).toEqual(['message-received', 'status-changed', 'run-started']);
  });

  test('again while its turn runs joins that; the next one is refused, then runs', async () => {
    const { node, taskId } = await createAsking();
    const second = textMessage('m2', 'this one', { taskId });
    const { turnNo, messageSeq } = await node.sendTask(second);
    expect(await node.sendTask(second)).toMatchObject({
      repeated: true,
      turnNo,
      messageSeq,
      task: { state: 'working' },
    });
    const third = textMessage('m3', 'and then', { taskId });
    await expect(node.send(third)).rejects.toMatchObject({ code: 'unsupported_operation' });
    await node.settle(await node.engine.startedRun(2), interrupted);
    expect(await node.sendTask(third)).toMatchObject({ repeated: false, turnNo: 3 });
    expect(node.engine.started).toHaveLength(3);
  });

  test('20 times at once on two nodes is one turn', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const store = await openMemoryStore({ clock: createFakeClock() });
      const { node, taskId } = await createAsking({ store, seed });
      const other = await createNode({ store, seed: seed + 1_000 });
      await other.start();
      const second = textMessage('m2', 'this one', { taskId });
      const sent = await Promise.all(
        Array.from({ length: 20 }, (_item, at) => (at % 2 === 0 ? node : other).sendTask(second)),
      );
      expect(
        sent.map(({ turnNo }) => turnNo),
        `seed ${seed}`,
      ).toEqual(Array(20).fill(2));
      expect(sent.filter(({ repeated }) => !repeated)).toHaveLength(1);
      expect(node.engine.started.length + other.engine.started.length).toBe(2);
      for (const each of [node, other]) await each.stop();
    }
  });

  test('50 at once on two nodes: one is taken, every other is told so', async () => {
    const store = await openMemoryStore({ clock: createFakeClock() });
    const { node, taskId, taskNo } = await createAsking({ store });
    const other = await createNode({ store, seed: 2 });
    await other.start();
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_item, at) =>
        (at % 2 === 0 ? node : other).send(textMessage(`n${at}`, 'me', { taskId })).then(
          () => 'taken',
          (error) => error.code,
        ),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'taken')).toHaveLength(1);
    expect(new Set(outcomes)).toEqual(new Set(['taken', 'unsupported_operation']));
    expect((await node.log(taskNo)).filter((event) => event.kind === 'message-received')).toHaveLength(2);
  });

  test('that has ended is refused and changes nothing, whatever the message answers', async () => {
    const { node, taskId, taskNo } = await createAsking();
    await node.sendTask(textMessage('m2', 'this one', { taskId }));
    await node.settle(await node.engine.startedRun(2), { kind: 'succeeded' });
    const head = (await node.log(taskNo)).length;
    const data = { askId: 'ask:Which?', action: 'accept', content: 1 };
    await expect(node.send({ taskId, parts: [{ kind: 'data', data }] })).rejects.toMatchObject({
      code: 'unsupported_operation',
      detail: { metadata: { state: 'completed' } },
    });
    expect(await node.log(taskNo)).toHaveLength(head);
  });

  test('that moves at every try is given up on after eight', async () => {
    const inner = await openMemoryStore({ clock: createFakeClock() });
    const { node, taskId } = await createAsking({ store: inner });
    let tries = 0;
    const scoped = inner.scoped.bind(inner);
    inner.scoped = (...place) =>
      Object.assign(Object.create(scoped(...place)), {
        readTask: (id: TaskId) => scoped(...place).readTask(id),
        findMessage: (id: MessageId) => scoped(...place).findMessage(id),
        command: async () => {
          tries += 1;
          return { kind: 'moved' };
        },
      });
    await expect(node.send({ taskId })).rejects.toMatchObject({ code: 'overloaded' });
    expect(tries).toBe(limits.commandTriesMax);
  });
});

describe('a message for a busy task of an agent that queues', () => {
  const queueing = defineAgent({
    name: 'queueing',
    description: 'Queues.',
    policy: { whenBusy: 'queue' },
    run: (turn) => turn.text,
  });

  test('waits its turn, and then sees what was done before it', async () => {
    const node = await createNode({ agents: [queueing] });
    await node.start();
    const first = await node.sendTask(textMessage('m1', 'one'));
    const second = await node.sendTask(textMessage('m2', 'two', { taskId: first.task.id }));
    expect(second).toMatchObject({ turnNo: 2, task: { state: 'working' } });
    expect(node.engine.started).toHaveLength(1);
    const grant = await node.engine.startedRun(1);
    await node.emit(grant, chunk(grant, 'done', { append: false, last: true }));
    await node.settle(grant, { kind: 'succeeded' });
    const next = await node.engine.startedRun(2);
    expect(next.turn).toMatchObject({ turnNo: 2, messageId: 'm2' });
    const material = await node.store.readTurn(next);
    expect(material.content.artifacts).toHaveLength(1);
    expect(material.content.history.map(({ messageId }) => messageId)).toEqual(['m1', 'm2']);
    await node.stop();
  });

  test('is refused beyond the bound', async () => {
    const node = await createNode({ agents: [queueing], config: { queuedTurnsMax: 2 } });
    await node.start();
    const { taskId } = { taskId: (await node.sendTask('one')).task.id };
    await node.send({ messageId: 'a' as MessageId, taskId });
    await node.send({ messageId: 'b' as MessageId, taskId });
    await expect(node.send({ messageId: 'c' as MessageId, taskId })).rejects.toMatchObject({ code: 'overloaded' });
  });
});
