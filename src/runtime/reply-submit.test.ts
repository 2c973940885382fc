import { describe, expect, test } from 'vitest';
import { defineAgent } from '../agent/define-agent.ts';
import { type Agent, reply, skill } from '../agent/definition.ts';
import { Fail, Reject } from '../agent/errors.ts';
import type { BaseTurn } from '../agent/turn.ts';
import { CodedError } from '../base/errors.ts';
import type { ContextId, WorkerNo } from '../model/ids.ts';
import { textOf } from '../model/message.ts';
import { anonymousCaller } from '../model/scope.ts';
import type { SystemStore } from '../store/contract.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { failingStore } from '../testing/failing-store.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { countingStore, interceptStore } from '../testing/intercepted-store.ts';
import { createNode, later, type RuntimeNode, textMessage } from '../testing/runtime-node.ts';
import type { Submitted } from './ports.ts';

type Run = (turn: BaseTurn<string>) => Promise<string> | string;

/** An agent with one reply skill that counts its calls. */
function replying(run: Run = (turn) => `You said ${turn.text}.`, effect: 'none' | 'some' = 'some') {
  const calls: string[] = [];
  const answer = reply({
    description: 'Answers.',
    effect,
    run: (turn) => {
      calls.push(turn.text);
      return run(turn);
    },
  });
  const agent: Agent = defineAgent({ name: 'echo', description: '-', skills: { answer } });
  return { agent, calls };
}

const said = (submitted: Submitted): string =>
  submitted.kind === 'reply' ? textOf(submitted.message.parts) : 'a task';

async function started(agent: Agent, store?: SystemStore): Promise<RuntimeNode> {
  const node = await createNode({ agents: [agent], ...(store === undefined ? {} : { store }) });
  await node.start();
  return node;
}

describe('a reply', () => {
  test('is one Message in a context, and leaves no task', async () => {
    const { agent } = replying();
    const node = await started(agent);
    const answer = await node.send(textMessage('m1', 'hello', { contextId: 'c1' as ContextId }));
    expect(answer).toMatchObject({ kind: 'reply', message: { role: 'agent', contextId: 'c1' } });
    expect(said(answer)).toBe('You said hello.');
    const other = await node.send('hello');
    expect(other).toMatchObject({ message: { contextId: expect.stringMatching(/.+/) } });
    expect(await node.store.stats()).toMatchObject({ events: 0, sessions: 0 });
    await node.stop();
  });

  test('that never comes is given up, and a repeat runs it again', async () => {
    let isStuck = true;
    const signals: AbortSignal[] = [];
    const { agent, calls } = replying((turn) => {
      signals.push(turn.signal);
      return isStuck ? new Promise<string>(() => {}) : 'at last';
    });
    const node = await started(agent);
    const first = node.send(textMessage('m1', 'hello'));
    const refused = expect(first).rejects.toMatchObject({ code: 'unavailable' });
    await expect.poll(() => calls.length).toBe(1);
    await node.clock.advance('301s');
    await refused;
    expect(signals[0]?.aborted).toBe(true);
    isStuck = false;
    expect(said(await node.send(textMessage('m1', 'hello')))).toBe('at last');
    await node.stop();
  });

  test('sent again is the same Message, on any node, and runs once', async () => {
    const { agent, calls } = replying();
    const node = await started(agent);
    const first = await node.send(textMessage('m1', 'hello'));
    const other = await createNode({ agents: [agent], store: node.store, clock: node.clock, seed: 2 });
    await other.start();
    expect(await node.send(textMessage('m1', 'hello'))).toEqual(first);
    expect(await other.send(textMessage('m1', 'hello'))).toEqual(first);
    await expect(node.send(textMessage('m1', 'bye'))).rejects.toMatchObject({ code: 'message_id_conflict' });
    expect(calls).toEqual(['hello']);
    for (const each of [node, other]) await each.stop();
  });

  test('20 at once on two nodes wait for the one that runs, and get its Message', async () => {
    let finish: ((text: string) => void) | undefined;
    const { agent, calls } = replying(() => new Promise((resolve) => (finish = resolve)));
    const node = await started(agent);
    const other = await createNode({ agents: [agent], store: node.store, clock: node.clock, seed: 2 });
    await other.start();
    const sends = Array.from({ length: 20 }, (_item, at) => (at % 2 ? other : node).send(textMessage('m1', 'hello')));
    await node.clock.advance('3s');
    expect(calls).toEqual(['hello']);
    finish?.('done');
    await node.clock.advance('1s');
    const answers = await Promise.all(sends);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(calls).toEqual(['hello']);
    for (const each of [node, other]) await each.stop();
    expect(node.clock.sleeping()).toBe(0);
  });

  test('that only reads is not recorded, and runs again', async () => {
    const { agent, calls } = replying(undefined, 'none');
    const clock = createFakeClock();
    const { store, calls: storeCalls } = countingStore(await openMemoryStore({ clock }));
    const node = await started(agent, store);
    await node.clock.advance(0);
    storeCalls.clear();
    for (const _count of [1, 2]) expect(said(await node.send(textMessage('m1', 'hello')))).toBe('You said hello.');
    expect(calls).toHaveLength(2);
    expect([...storeCalls.keys()].filter((name) => name.includes('Reply'))).toEqual([]);
    await node.stop();
  });

  test('commits its memory with itself', async () => {
    const { agent } = replying(async (turn) => {
      await turn.memories.remember({ text: turn.text });
      if (turn.text === 'fail') throw new Error('no');
      return 'kept';
    });
    const node = await started(agent);
    const memories = node.store.scoped('echo' as never, anonymousCaller.scope).memories;
    await node.send(textMessage('m1', 'tides'));
    await node.send(textMessage('m1', 'tides'));
    await expect(node.send(textMessage('m2', 'fail'))).rejects.toThrow();
    expect((await memories.list({ itemsMax: 10 })).map(({ text }) => text)).toEqual(['tides']);
    await node.stop();
  });

  test.each<[string, () => Error, object]>([
    ['a Reject', () => new Reject('Not on Sundays.'), { code: 'invalid_argument', message: 'Not on Sundays.' }],
    [
      'a Fail',
      () => new Fail('The bank is closed.', { code: 'closed' }),
      { code: 'internal', message: 'The bank is closed.' },
    ],
    [
      'any other error',
      () => new Error('password=hunter2'),
      { code: 'internal', message: expect.not.stringContaining('hunter2') },
    ],
  ])('that ends in %s is an error, and is forgotten', async (_name, error, expected) => {
    let isBroken = true;
    const { agent, calls } = replying(() => {
      if (isBroken) throw error();
      return 'done';
    });
    const node = await started(agent);
    await expect(node.send(textMessage('m1', 'hello'))).rejects.toMatchObject(expected);
    isBroken = false;
    expect(said(await node.send(textMessage('m1', 'hello')))).toBe('done');
    expect(calls).toHaveLength(2);
    await node.stop();
  });

  test('whose worker died is taken over by the next call', async () => {
    const { agent, calls } = replying();
    const node = await started(agent);
    const dead = (await node.store.registerWorker({ workerId: 'w' as never, agents: [], leaseMs: 5_000 })) as WorkerNo;
    const { fingerprintOf } = await import('./fingerprint.ts');
    const { createSecrets } = await import('./secrets.ts');
    const message = textMessage('m1', 'hello');
    const fingerprint = await fingerprintOf(createSecrets(new Uint8Array(32).fill(7)), { message });
    const scoped = node.store.scoped('echo' as never, anonymousCaller.scope);
    await scoped.beginReply({ messageId: message.messageId, fingerprint, workerNo: dead });
    const wait = node.send(message);
    await node.clock.advance('4s');
    expect(calls).toEqual([]);
    await node.clock.advance('12s');
    expect(said(await wait)).toBe('You said hello.');
    expect(calls).toEqual(['hello']);
    await node.stop();
  });

  test('that takes too long tells its caller and its repeats to come back', async () => {
    const { agent } = replying(() => new Promise(() => {}));
    const node = await createNode({ agents: [agent], config: { sendWaitMaxMs: 10_000 } });
    await node.start();
    const first = node.send(textMessage('m1', 'hello')).catch((error) => error.code);
    await node.clock.advance(0);
    const repeat = node.send(textMessage('m1', 'hello')).catch((error) => error.code);
    await node.clock.advance('11s');
    expect(await repeat).toBe('unavailable');
    const stopping = node.system.service.stop(later(node.clock, 5_000));
    await node.clock.advance('5s');
    await stopping;
    await expect(node.send('more')).rejects.toMatchObject({ code: 'unavailable' });
    expect(await first).toBe('unavailable');
    expect(node.clock.sleeping()).toBe(0);
  });

  test('in a task is no reply: a message with a taskId goes to that task', async () => {
    const work = skill({ description: 'Works.', run: (turn) => turn.text });
    const answer = reply({ description: 'Answers.', run: () => 'a reply' });
    const agent = defineAgent({ name: 'echo', description: '-', skills: { answer, work } });
    const node = await started(agent);
    const { task } = await node.sendTask('hello', { metadata: { skillId: 'work' } });
    await expect(node.send({ taskId: task.id }, { metadata: { skillId: 'answer' } })).rejects.toMatchObject({
      code: 'unsupported_operation',
    });
    expect(said(await node.send('hello', { metadata: { skillId: 'answer' } }))).toBe('a reply');
    await node.stop();
  });
});

describe('a reply on a store that fails', () => {
  test.each(['once', 'from-then-on'] as const)(
    '%s, before each call, is an error and then works again',
    async (mode) => {
      for (let failingCall = 1; ; failingCall += 1) {
        const { agent, calls } = replying();
        const clock = createFakeClock();
        const failing = failingStore(await openMemoryStore({ clock }));
        const node = await createNode({ clock, store: failing.store, agents: [agent] });
        await node.start();
        await clock.advance(1);
        failing.arm({ failingCall, mode, when: 'before' });
        const first = await node.send(textMessage('m1', 'hello')).then(said, (error) => error.code as string);
        expect(['You said hello.', 'unavailable'], `call ${failingCall}`).toContain(first);
        const { wasReached } = failing;
        failing.mend();
        await clock.advance('6s');
        expect(said(await node.send(textMessage('m1', 'hello'))), `call ${failingCall}`).toBe('You said hello.');
        expect(calls.length).toBeLessThanOrEqual(2);
        await node.stop();
        if (!wasReached) return;
        expect(failingCall).toBeLessThan(20);
      }
    },
  );
});

describe('a row that was begun without an answer', () => {
  /** A store that loses the answers of these calls, until it is told to keep them. */
  const forgetful = async (...names: readonly string[]) => {
    const clock = createFakeClock();
    const inner = await openMemoryStore({ clock });
    const lost = new Set(names);
    const store = interceptStore(inner, async (name, call) => {
      const answer = await call();
      if (lost.has(name)) throw new CodedError('unavailable');
      return answer;
    });
    return { clock, inner, store, lost };
  };

  test.each([
    ['while it can be dropped', ['scoped.beginReply']],
    ['while it cannot', ['scoped.beginReply', 'scoped.dropReply']],
  ])('%s, it does not stand in the way of a repeat', async (_when, names) => {
    const { agent, calls } = replying();
    const { clock, store, lost } = await forgetful(...names);
    const node = await createNode({ agents: [agent], store, clock });
    await node.start();
    await expect(node.send(textMessage('m1', 'hello'))).rejects.toMatchObject({ code: 'unavailable' });
    lost.clear();
    expect(said(await node.send(textMessage('m1', 'hello')))).toBe('You said hello.');
    expect(calls).toEqual(['hello']);
    await node.stop();
  });

  test('is forgotten with the next sweep, so that a repeat at another process finds its way', async () => {
    const { agent } = replying();
    const { clock, inner, store, lost } = await forgetful('scoped.beginReply');
    let isAway = true;
    const away = interceptStore(store, (name, call) => {
      if (isAway && name === 'scoped.dropReply') throw new CodedError('unavailable');
      return call();
    });
    const node = await createNode({ agents: [agent], store: away, clock });
    const other = await createNode({ agents: [agent], store: inner, clock, seed: 2 });
    for (const each of [node, other]) await each.start();
    await expect(node.send(textMessage('m1', 'hello'))).rejects.toMatchObject({ code: 'unavailable' });
    lost.clear();
    isAway = false;
    const repeat = other.send(textMessage('m1', 'hello'));
    await clock.advance('10s');
    expect(said(await repeat)).toBe('You said hello.');
    for (const each of [node, other]) await each.stop();
  });
});
