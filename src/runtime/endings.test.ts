import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../agent/define-agent.ts';
import { skill } from '../agent/definition.ts';
import { authRequired, completed, Fail, inputRequired, Reject } from '../agent/errors.ts';
import type { TaskTurn } from '../agent/turn.ts';
import type { RuntimeConfig } from '../runtime/ports.ts';
import { RunWorld } from '../testing/run-world.ts';

type Run = (turn: TaskTurn<string>) => unknown;

async function ended(run: Run, more: { readonly config?: Partial<RuntimeConfig>; readonly policy?: object } = {}) {
  const { policy = {}, config = {} } = more;
  const agent = defineAgent({ name: 'tester', description: 'd', run: run as never, policy });
  const world = await RunWorld.open({ agent, config });
  await world.send('hello');
  return world;
}

async function lastStatus(world: RunWorld) {
  const { task, content } = await world.snapshot();
  return { state: task.state, message: content.statusMessage };
}

const refuse = (): never => {
  throw new Error('not for you');
};

describe('what a handler returns or throws', () => {
  test('text becomes the artifact result, then COMPLETED', async () => {
    const world = await ended((turn) => turn.text.toUpperCase());
    expect(await world.state()).toBe('completed');
    expect(await world.artifactText('result')).toBe('HELLO');
    const kinds = (await world.events()).map((event) => event.kind);
    expect(kinds).toEqual([
      'task-created',
      'message-received',
      'status-changed',
      'run-started',
      'status-changed',
      'artifact-updated',
      'run-settled',
      'status-changed',
    ]);
    expect(world.published.map(({ seq }) => seq)).toEqual([6, 7, 8]);
  });

  test.each([
    ['a proxy that throws', () => new Proxy({}, { getPrototypeOf: refuse, get: refuse })],
    ['an error whose message throws', () => Object.defineProperty(new Error('x'), 'message', { get: refuse })],
    ['an object without a prototype', () => Object.create(null) as unknown],
    ['a text of 5 million letters', () => 'x'.repeat(5_000_000)],
  ])('whatever is thrown ends the task: %s', async (_what, make) => {
    const world = await ended(() => {
      throw make();
    });
    expect(await lastStatus(world)).toMatchObject({ state: 'failed', message: { role: 'agent' } });
  });

  test.each([
    ['a part of no kind', (turn: TaskTurn<string>) => turn.artifact('a').append([{ kind: 'nope' }] as never)],
    ['a number as a chunk', (turn: TaskTurn<string>) => turn.artifact('a').append(42 as never)],
    ['no question', () => inputRequired(undefined as never)],
    ['a number as the last word', () => completed(42 as never)],
  ])('what no client could read is not stored: %s', async (_what, run) => {
    const world = await ended(run);
    expect(await world.state()).toBe('failed');
    expect((await world.snapshot()).content.artifacts).toEqual([]);
    expect(await lastStatus(world)).toMatchObject({
      message: { metadata: { 'https://holdfast.dev/a2a/v1/code': 'invalid_agent_response' } },
    });
  });

  test('nothing makes no artifact', async () => {
    const world = await ended(() => undefined);
    expect((await world.snapshot()).content.artifacts).toEqual([]);
    expect(await world.state()).toBe('completed');
  });

  test('an output schema makes a data part', async () => {
    const agent = defineAgent({
      name: 'tester',
      description: 'd',
      skills: {
        add: skill({
          description: 'd',
          input: z.object({ a: z.number(), b: z.number() }),
          output: z.object({ sum: z.number() }),
          run: ({ input }) => ({ sum: input.a + input.b }),
        }),
      },
    });
    const world = await RunWorld.open({ agent });
    await world.send([{ kind: 'data', data: { a: 1, b: 2 } }], { skill: 'add' });
    expect((await world.snapshot()).content.artifacts[0]?.parts).toEqual([{ kind: 'data', data: { sum: 3 } }]);
  });

  test('an output that its schema refuses is the author’s fault', async () => {
    const agent = defineAgent({
      name: 'tester',
      description: 'd',
      skills: {
        bad: skill({ description: 'd', output: z.object({ n: z.number() }), run: () => ({ n: 'x' }) as never }),
      },
    });
    const world = await RunWorld.open({ agent });
    await world.send('go', { skill: 'bad' });
    const { state, message } = await lastStatus(world);
    expect(state).toBe('failed');
    expect(message?.metadata).toEqual({ 'https://holdfast.dev/a2a/v1/code': 'invalid_agent_response' });
    expect(world.logged.find((line) => line.message === 'agent failed')?.fields.error).toMatchObject({
      message: expect.stringContaining('output.n must be a number'),
    });
  });

  test('Reject and Fail speak to the client', async () => {
    const rejected = await lastStatus(await ended(() => Promise.reject(new Reject('Not today.'))));
    expect(rejected).toMatchObject({ state: 'rejected', message: { parts: [{ kind: 'text', text: 'Not today.' }] } });
    const failed = await lastStatus(
      await ended(() => {
        throw new Fail('No funds.', { code: 'no-funds' });
      }),
    );
    expect(failed).toMatchObject({
      state: 'failed',
      message: {
        parts: [{ kind: 'text', text: 'No funds.' }],
        metadata: { 'https://holdfast.dev/a2a/v1/code': 'no-funds' },
      },
    });
  });

  test('any other error stays in the log; the client gets its id', async () => {
    const secret = new Error('password is hunter2');
    const world = await ended(() => Promise.reject(secret));
    const { state, message } = await lastStatus(world);
    const line = world.logged.find((logged) => logged.message === 'agent failed');
    expect(state).toBe('failed');
    expect(message?.parts).toEqual([{ kind: 'text', text: `The agent failed. Error id: ${line?.fields.errorId}.` }]);
    expect(line?.fields.error).toBe(secret);
    expect((await world.events()).at(-1)).toMatchObject({ errorId: line?.fields.errorId });
    expect(JSON.stringify(await world.events())).not.toContain('hunter2');
  });

  test('showErrors shows it', async () => {
    const world = await ended(() => Promise.reject(new TypeError('x is not a y')), { config: { showErrors: true } });
    expect((await lastStatus(world)).message?.parts[0]).toMatchObject({
      text: expect.stringContaining('TypeError: x is not a y'),
    });
  });

  test('showErrors names the page that says what to write instead', async () => {
    const world = await ended((turn) => turn.step('pay', () => turn.ask('Sure?')), { config: { showErrors: true } });
    expect((await lastStatus(world)).message?.parts[0]).toMatchObject({
      text: expect.stringContaining('ask first, then call the step.  → docs/errors/ask-in-step.md'),
    });
  });

  test('completed(…) is the last word and makes no artifact', async () => {
    const world = await ended(() => completed('Sent.', { to: 3 }));
    const { state, message } = await lastStatus(world);
    expect(state).toBe('completed');
    expect(message?.parts).toEqual([
      { kind: 'text', text: 'Sent.' },
      { kind: 'data', data: { to: 3 } },
    ]);
    expect((await world.snapshot()).content.artifacts).toEqual([]);
  });

  test('inputRequired(…) ends the turn; the next message begins another', async () => {
    const world = await ended((turn) =>
      turn.history.length === 0 ? inputRequired('Which one?') : `took ${turn.text}`,
    );
    expect(await lastStatus(world)).toMatchObject({
      state: 'input-required',
      message: { parts: [{ kind: 'text', text: 'Which one?' }] },
    });
    await world.answer('the red one');
    expect(await world.artifactText('result')).toBe('took the red one');
    expect((await world.view()).turn.turnNo).toBe(2);
  });

  test('authRequired(…) likewise', async () => {
    expect((await lastStatus(await ended(() => authRequired('Sign in.')))).state).toBe('auth-required');
  });

  test('onError: retry runs the turn again, and charges no crash', async () => {
    let runs = 0;
    const world = await ended(
      () => {
        runs += 1;
        if (runs < 3) throw new Error('flaky');
        return 'ok';
      },
      { policy: { onError: 'retry' } },
    );
    for (let round = 0; round < 5; round += 1) await world.advance('30s');
    expect(await world.artifactText('result')).toBe('ok');
    expect((await world.view()).turn).toMatchObject({ attempts: 3, crashes: 0 });
  });

  test('an input that the skill refuses at execution rejects the task', async () => {
    const agent = defineAgent({
      name: 'tester',
      description: 'd',
      skills: { add: skill({ description: 'd', input: z.object({ a: z.number() }), run: () => 'x' }) },
    });
    const world = await RunWorld.open({ agent });
    await world.send('no json', { skill: 'add' });
    const { state, message } = await lastStatus(world);
    expect(state).toBe('rejected');
    expect(message?.parts[0]).toMatchObject({ text: expect.not.stringContaining('Nothing was stored') });
  });

  test('a skill that a new version no longer has', async () => {
    const agent = defineAgent({ name: 'tester', description: 'd', run: () => 'x' });
    const world = await RunWorld.open({ agent });
    await world.send('x', { skill: 'gone' });
    expect(await lastStatus(world)).toMatchObject({
      state: 'failed',
      message: { parts: [{ text: 'This agent no longer has the skill "gone" that the task was begun with.' }] },
    });
  });
});
