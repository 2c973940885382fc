import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../agent/define-agent.ts';
import { reply } from '../agent/definition.ts';
import { Fail, Reject } from '../agent/errors.ts';
import type { BaseTurn } from '../agent/turn.ts';
import type { MessageId } from '../model/ids.ts';
import type { Message } from '../model/message.ts';
import { RunWorld, WORLD_SCOPE } from '../testing/run-world.ts';
import { runReply } from './run-reply.ts';
import { sealContent, withholdContent } from './thin-message.ts';

async function answered(run: (turn: BaseTurn<string>) => unknown, options: { readonly output?: z.ZodType } = {}) {
  const agent = defineAgent({
    name: 'tester',
    description: 'd',
    skills: { say: reply({ description: 'd', ...options, run: run as never }) },
  });
  const world = await RunWorld.open({ agent });
  const message: Message = { messageId: 'm1' as MessageId, role: 'user', parts: [{ kind: 'text', text: 'ping' }] };
  const result = runReply(world.process.parts, {
    agent,
    skillId: 'say',
    message,
    caller: { principal: { id: 'ann' }, scope: WORLD_SCOPE },
    session: { id: 'context-1', threadId: 'thread-1' },
    signal: new AbortController().signal,
  });
  return { world, result };
}

describe('a reply', () => {
  test('is one message', async () => {
    const { result } = await answered(
      (turn) => `${turn.text} pong ${turn.session.threadId} ${turn.principal.id} ${turn.scope}`,
    );
    expect(await result).toMatchObject({
      message: {
        role: 'agent',
        contextId: 'context-1',
        parts: [{ kind: 'text', text: 'ping pong thread-1 ann user=a' }],
      },
      memoryWrites: [],
    });
  });

  test('nothing to say is an empty text, for a message has a part', async () => {
    const { result } = await answered(() => undefined);
    expect((await result).message.parts).toEqual([{ kind: 'text', text: '' }]);
  });

  test('collects its memory writes, to commit with the answer', async () => {
    const { world, result } = await answered(async (turn) => {
      const { id } = await turn.memories.remember({ text: 'tea at four', source: 'note' });
      expect(await turn.memories.remember({ id: 'mine', text: 'tea at five' })).toEqual({ id: 'mine' });
      await turn.memories.forget('old');
      await turn.memories.grant(id, 'user=b');
      expect(await turn.memories.recall('tea')).toEqual([]);
    });
    const { memoryWrites } = await result;
    expect(memoryWrites.map(({ kind }) => kind)).toEqual(['remember', 'remember', 'forget', 'grant']);
    expect(memoryWrites[0]).toMatchObject({ memory: { text: 'tea at four', source: 'note', id: expect.any(String) } });
    expect(world.process.handle.calls).not.toContain('scoped.memories.write');
  });

  test('fails as an answer that a caller can act on', async () => {
    const rejected = await answered(() => Promise.reject(new Reject('Not you.')));
    await expect(rejected.result).rejects.toMatchObject({ code: 'invalid_argument', message: 'Not you.' });
    const failed = await answered(() => Promise.reject(new Fail('No funds.', { code: 'no-funds' })));
    await expect(failed.result).rejects.toMatchObject({
      code: 'internal',
      message: 'No funds.',
      detail: { metadata: { code: 'no-funds' } },
    });
    const wrong = await answered(() => ({ n: 'x' }), { output: z.object({ n: z.number() }) });
    await expect(wrong.result).rejects.toMatchObject({ code: 'invalid_agent_response' });
    const broken = await answered(() => Promise.reject(new Error('hunter2')));
    await expect(broken.result).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringMatching(/^The agent failed\. Error id: [0-9a-f-]{36}\.$/),
    });
    expect(broken.world.logged.find(({ message }) => message === 'agent failed')?.fields.error).toMatchObject({
      message: 'hunter2',
    });
  });
});

describe('memories of a task', () => {
  test('are written at once, inside a step once', async () => {
    const agent = defineAgent({
      name: 'tester',
      description: 'd',
      async run(turn) {
        await turn.step('remember', () => turn.memories.remember({ text: 'tea at four' }));
        await turn.ask('Q?');
        const [hit] = await turn.memories.recall('tea');
        const read = await turn.memories.read(hit?.id ?? '');
        return `${(await turn.memories.list()).length} ${hit?.text} ${read?.createdAt.toISOString()}`;
      },
    });
    const world = await RunWorld.open({ agent });
    await world.send('x');
    await world.answer('a');
    expect(await world.artifactText('result')).toBe('1 tea at four 2026-01-01T00:00:00.000Z');
  });
});

describe('what a handler is given', () => {
  test('files, with their bytes however they are kept; urls are not fetched', async () => {
    const agent = defineAgent({
      name: 'tester',
      description: 'd',
      async run(turn) {
        const [raw, url] = turn.files;
        const refused = await url?.bytes().catch((error: Error) => error.message);
        return `${raw?.name} ${(await raw?.bytes())?.length} ${url?.url} ${refused}`;
      },
    });
    const world = await RunWorld.open({ agent });
    await world.send([
      { kind: 'raw', raw: new Uint8Array(9), filename: 'a.bin' },
      { kind: 'url', url: 'https://a.example' },
    ]);
    expect(await world.artifactText('result')).toBe(
      'a.bin 9 https://a.example The bytes of a url part are not fetched: https://a.example',
    );
  });

  test('of an agent that keeps no content: the message as it was sent', async () => {
    const agent = defineAgent({
      name: 'tester',
      description: 'd',
      policy: { storeContent: false },
      async run(turn) {
        await turn.artifact('seen').append({ data: { text: turn.text, parts: turn.message.parts.length } });
      },
    });
    const world = await RunWorld.open({ agent });
    const sent: Message = { messageId: 'm' as MessageId, role: 'user', parts: [{ kind: 'text', text: 'my secret' }] };
    const input = sealContent(world.process.parts.secrets, sent);
    await world.submit(withholdContent(sent).parts, { input });
    await world.work();
    expect((await world.snapshot()).content.artifacts[0]?.parts).toEqual([
      { kind: 'data', data: { text: 'my secret', parts: 1 } },
    ]);
  });
});
