import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Part } from '../src/model/message.ts';
import type { StreamItem } from '../src/protocol/v1/client-codec.ts';
import { type AgentTalk, talkTo } from '../src/testing/agent-talk.ts';
import { type ServerWorld, startWorld } from '../src/testing/server-world.ts';
import notebook from './notebook.ts';

let world: ServerWorld;
let talk: AgentTalk;
beforeAll(async () => {
  world = await startWorld({ agents: [notebook] });
  talk = talkTo(world.url);
});
afterAll(() => world.close());

const fileOf = async (name: string, path: string): Promise<Part> => ({
  kind: 'raw',
  raw: await readFile(path),
  filename: name,
  mediaType: 'text/markdown',
});
const textFile = (filename: string): Part => ({ kind: 'raw', raw: Buffer.from('A word.'), filename });
const dataOf = (parts: readonly Part[]) => parts.find((part) => part.kind === 'data')?.data as never;

async function remember(text: string, source?: string): Promise<readonly string[]> {
  const data = source === undefined ? { text } : { text, source };
  const { ids } = dataOf((await talk.reply({ skill: 'remember', data })).parts) as { readonly ids: readonly string[] };
  return ids;
}

interface Recalled {
  readonly hits: readonly {
    readonly id: string;
    readonly source?: string;
    readonly line?: number;
    readonly text: string;
  }[];
}
const recall = async (query: string): Promise<Recalled> =>
  dataOf((await talk.reply({ skill: 'recall', data: { query, max: 3 } })).parts);

describe('real documents', () => {
  test('are remembered from files, and a passage is found with its file and line', async () => {
    const architecture = await fileOf('architecture.md', 'docs/architecture.md');
    const adr = await fileOf('0001.md', 'docs/adr/0001-one-write-per-change.md');
    const kept = dataOf((await talk.reply({ skill: 'remember', parts: [architecture, adr] })).parts) as {
      readonly passages: number;
      readonly ids: readonly string[];
    };
    expect(kept.passages).toBeGreaterThan(5);
    expect(new Set(kept.ids).size).toBe(kept.passages);
    const source = Buffer.from(architecture.kind === 'raw' ? architecture.raw : []).toString('utf8');
    const rare = /\b(?:[a-z]{11,})\b/.exec(source.slice(source.length / 2))?.[0] ?? '';
    const { hits } = await recall(rare);
    const hit = hits.find((each) => each.source === 'architecture.md');
    expect(hit?.text, `the passage with "${rare}"`).toContain(rare);
    expect(source.split('\n')[(hit?.line ?? 0) - 1]).toBe(hit?.text.split('\n')[0]);
  });

  test('of one name are kept side by side when each says its source', async () => {
    const readme = (text: string): Part => ({
      kind: 'raw',
      raw: Buffer.from(text),
      filename: 'README.md',
      mediaType: 'text/markdown',
    });
    const keep = async (text: string, source: string) =>
      dataOf(
        (await talk.reply({ skill: 'remember', parts: [readme(text), { kind: 'data', data: { source } }] })).parts,
      ) as { readonly forgotten: number };
    await keep('The pelican is the first.', 'README.md');
    expect(await keep('The pelican is the second.', 'docs/README.md')).toMatchObject({ forgotten: 0 });
    expect(await keep('The pelican is the third.', 'docs/README.md')).toMatchObject({ forgotten: 1 });
    const { hits } = await recall('pelican');
    expect(hits.map(({ source, text }) => [source, text]).sort()).toEqual([
      ['README.md', 'The pelican is the first.'],
      ['docs/README.md', 'The pelican is the third.'],
    ]);
  });

  test('a text part says alone what was found and where', async () => {
    await remember('The harbour master keeps the key to the lighthouse.', 'harbour.txt');
    const answer = await talk.reply({ skill: 'recall', text: 'lighthouse' });
    expect(answer.parts[0]).toMatchObject({
      kind: 'text',
      text: expect.stringMatching(/^1\. harbour\.txt:1\nThe harbour/),
    });
    const nothing = await talk.reply({ skill: 'recall', text: 'zeppelin' });
    expect(nothing.parts[0]).toEqual({ kind: 'text', text: 'Nothing is remembered about "zeppelin".' });
  });
});

describe('forget', () => {
  test('takes one passage by its id, and a whole file by its name, however long', async () => {
    const [id = ''] = await remember('The password of the harbour gate is swordfish.');
    await talk.reply({ skill: 'forget', data: { id } });
    expect((await recall('swordfish')).hits).toEqual([]);

    const long = Array.from({ length: 150 }, (_, index) => `# Part ${index}\n\n${'barnacle '.repeat(60)}`).join('\n\n');
    const ids = await remember(long, 'barnacles.md');
    expect(ids.length).toBe(150);
    const gone = dataOf((await talk.reply({ skill: 'forget', text: 'barnacles.md' })).parts) as {
      readonly forgotten: number;
    };
    expect(gone.forgotten).toBe(150);
    expect((await recall('barnacle')).hits).toEqual([]);
  });

  test('of what is not there forgets nothing', async () => {
    expect(dataOf((await talk.reply({ skill: 'forget', text: 'nowhere.md' })).parts)).toEqual({
      forgotten: 0,
      ids: [],
    });
  });
});

describe('share', () => {
  test('says each item as it is shared, hands back references, and ends last', async () => {
    const [a = ''] = await remember('Whales sing in the autumn.');
    const [b = ''] = await remember('Whales sleep upright.');
    const items = await talk.stream({ skill: 'share', data: { with: 'user=ben', memories: [a, 'never-was', b, a] } });
    const statuses = items.flatMap((item) => (item.kind === 'status' ? [item.status] : []));
    expect(
      statuses.flatMap(({ message }) => message?.parts.map((part) => part.kind === 'data' && part.data) ?? []),
    ).toEqual([
      { id: a, shared: true },
      { id: 'never-was', shared: false },
      { id: b, shared: true },
    ]);
    expect(items.at(-1)).toMatchObject({ kind: 'status', status: { state: 'completed' } });
    const artifacts = items.filter((item) => item.kind === 'artifact');
    expect(artifacts.map(({ artifact }) => artifact.parts)).toEqual([
      [expect.objectContaining({ data: { memories: [a, b] } })],
    ]);
    const granted = world.store.scoped('notebook' as never, 'anonymous' as never).memories;
    expect(await granted.grantsOf(a as never)).toEqual(['user=ben']);
  });

  test('of what is not there hands back no references, and says so', async () => {
    const task = await talk.task({ skill: 'share', data: { with: 'user=ben', query: 'zeppelin' } });
    expect(task.artifacts[0]?.parts).toEqual([expect.objectContaining({ data: { memories: [] } })]);
  });

  test('finds by a query, and its task keeps no content', async () => {
    await remember('Narwhals dive deeper than anybody thought.');
    const task = await talk.task({ skill: 'share', data: { with: 'user=ben', query: 'narwhals' } });
    expect(task.artifacts[0]?.parts[0]).toMatchObject({ data: { memories: [expect.any(String)] } });
    expect(JSON.stringify(await talk.get(task.id))).not.toMatch(/arwhal/);
  });
});

describe('a message that is refused stores nothing', () => {
  test.each<[string, Parameters<AgentTalk['send']>[0], RegExp]>([
    ['without a skill', { text: 'x' }, /has the skills remember, recall, forget, share\. Name one/],
    ['with nothing in it', { skill: 'remember', text: '  ' }, /nothing to remember/],
    [
      'with a picture',
      { skill: 'remember', parts: [{ kind: 'raw', raw: Uint8Array.of(0xff, 0xd8, 0), filename: 'a.jpg' }] },
      /a\.jpg is not a text/,
    ],
    [
      'with a link',
      { skill: 'remember', parts: [{ kind: 'url', url: 'https://x.example/a.md', filename: 'a.md' }] },
      /Send the file itself/,
    ],
    [
      'with a name for no file',
      { skill: 'remember', data: { source: 'a.md' } },
      /No file came along to be called a\.md/,
    ],
    [
      'with one name for two files',
      { skill: 'remember', parts: [textFile('a.md'), textFile('b.md'), { kind: 'data', data: { source: 'c.md' } }] },
      /c\.md names one file, and 2 came/,
    ],
    ['that shares nothing', { skill: 'share', data: { with: 'ben' } }, /needs either memories or query/],
    ['that recalls nothing', { skill: 'recall', data: { max: 3 } }, /query is required/],
  ])('%s', async (_name, said, message) => {
    await expect(talk.send(said)).rejects.toMatchObject({ kind: 'protocol', message: expect.stringMatching(message) });
  });
});

test('each reply skill streams exactly one message, the same as it sends', async () => {
  const [sent, streamed] = [
    await talk.reply({ skill: 'recall', text: 'whales' }),
    await talk.stream({ skill: 'recall', text: 'whales' }),
  ];
  const partsOf = (item: StreamItem | undefined) => (item?.kind === 'message' ? item.message.parts : undefined);
  expect(streamed.length).toBe(1);
  expect(partsOf(streamed[0])).toEqual(sent.parts);
});

test('the same message again is the same answer, and is remembered once', async () => {
  const said = { skill: 'remember', text: 'Ospreys nest on the old crane.', messageId: 'osprey-1' };
  const [first, second] = [await talk.reply(said), await talk.reply(said)];
  expect(second).toEqual(first);
  expect((await recall('ospreys')).hits.length).toBe(1);
});
