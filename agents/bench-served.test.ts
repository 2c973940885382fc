import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AgentTalk, talkTo } from '../src/testing/agent-talk.ts';
import { type ServerWorld, startWorld } from '../src/testing/server-world.ts';
import bench from './bench.ts';

let world: ServerWorld;
let talk: AgentTalk;
beforeAll(async () => {
  world = await startWorld({ agents: [bench] });
  talk = talkTo(world.url);
});
afterAll(() => world.close());

test('an order becomes one artifact in so many chunks of so many letters', async () => {
  const items = await talk.stream({ text: 'bench chunks=5 size=3 delay=1 hold=1' });
  const chunks = items.flatMap((item) => (item.kind === 'artifact' ? [item] : []));
  expect(chunks.map(({ append, lastChunk, artifact }) => [append, lastChunk, artifact.parts])).toEqual([
    [false, false, [{ kind: 'text', text: 'xxx' }]],
    ...Array.from({ length: 3 }, () => [true, false, [{ kind: 'text', text: 'xxx' }]]),
    [true, true, [{ kind: 'text', text: 'xxx' }]],
  ]);
  expect(new Set(chunks.map(({ artifact }) => artifact.artifactId)).size).toBe(1);
  expect(items.at(-1)).toMatchObject({ kind: 'status', status: { state: 'completed' } });
});

test('one chunk is the first and the last, none makes no artifact', async () => {
  const [only] = (await talk.stream({ text: 'bench chunks=1' })).filter((item) => item.kind === 'artifact');
  expect(only).toMatchObject({ append: false, lastChunk: true, artifact: { parts: [{ text: 'x'.repeat(64) }] } });
  const none = await talk.task({ text: 'bench' });
  expect([none.status.state, none.artifacts]).toEqual(['completed', []]);
});

test('another text is rejected with what to write', async () => {
  const task = await talk.task({ text: 'hello' });
  expect(task.status.state).toBe('rejected');
  expect(JSON.stringify(task.status.message?.parts)).toContain('bench chunks=K');
});
