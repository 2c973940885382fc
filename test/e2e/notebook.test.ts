import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Part } from '../../src/model/message.ts';
import type { RemoteTask, StreamItem } from '../../src/protocol/v1/client-codec.ts';
import { type AgentTalk, talkTo } from '../../src/testing/agent-talk.ts';
import { readAll } from '../scenarios/door.ts';
import { nativeSessionDoor } from '../scenarios/native-door.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';

type Utterance = Parameters<AgentTalk['send']>[0];

const ROOT = path.resolve(import.meta.dirname, '../..');
const MAIN = path.join(ROOT, 'src/cli/main.ts');
/** This repository's own pages. */
const PAGES = ['README.md', 'CONTRIBUTING.md', 'docs', 'docs/adr'].flatMap((entry) =>
  entry.endsWith('.md')
    ? [entry]
    : readdirSync(path.join(ROOT, entry))
        .filter((name) => name.endsWith('.md') && name !== 'README.md')
        .map((name) => path.join(entry, name)),
);

let folder: string;
let server: ServerProcess;
let talk: AgentTalk;

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'holdfast-notebook-'));
  await serve();
});
afterAll(async () => {
  await server.kill();
  rmSync(folder, { recursive: true, force: true });
});

async function serve(): Promise<void> {
  server = await startServer({
    args: [MAIN, 'serve', path.join(ROOT, 'agents/notebook.ts'), '--port', '0', '--store', 'sqlite:notes.db'],
    cwd: folder,
    env: { HOLDFAST_LOG_LEVEL: 'warn' },
  });
  talk = talkTo(server.url);
}

/** Runs `holdfast send` in a process of its own; gives what it printed. */
function send(...words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, 'send', '-a', server.url, ...words], { cwd: ROOT });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => (out += chunk));
    child.stderr.on('data', (chunk) => (err += chunk));
    child.once('close', (code) => (code === 0 ? resolve(out) : reject(new Error(err))));
  });
}

async function sendForData(...words: readonly string[]): Promise<Remembered> {
  const { message } = JSON.parse(await send(...words, '-o', 'json'));
  return message.parts[0].data;
}

interface Remembered {
  readonly passages: number;
  readonly ids: readonly string[];
  readonly forgotten: number;
}
interface Hit {
  readonly id: string;
  readonly text: string;
  readonly source: string;
  readonly line: number;
}

const dataOf = (parts: readonly Part[] = []) => parts.find((part) => part.kind === 'data')?.data as never;
const recall = async (query: string, max = 5): Promise<readonly Hit[]> =>
  (dataOf((await talk.reply({ skill: 'recall', data: { query, max } })).parts) as { readonly hits: readonly Hit[] })
    .hits;

describe("this repository's documents", () => {
  let first: Remembered;

  test('are remembered from files over the command line', async () => {
    first = await sendForData('--skill', 'remember', ...PAGES.flatMap((page) => ['--file', page]));
    expect(first.passages).toBeGreaterThan(40);
    expect(first.forgotten).toBe(0);
  });

  test.each([
    ['how long may a canceled agent tidy up?', 'README.md', 'runs.cancelGraceSecs'],
    ['what happened when a worker renewed no lease?', 'architecture.md', 'lease'],
    ['why are answers judged twice?', '0003-answers-are-judged-twice.md', 'judged twice'],
    ['when does the store use a savepoint?', '0006-savepoints-only-where-needed.md', 'savepoint'],
    ['is there compaction of a log yet?', '0004-no-compaction-yet.md', 'compact'],
    ['what is a cursor of another incarnation?', 'doors.md', 'incarnation'],
    ['the words of the glossary: what is an orphan?', 'glossary.md', 'orphan'],
  ])('%s', async (query, source, words) => {
    const [hit] = await recall(query, 1);
    expect(hit?.source).toBe(source);
    expect(hit?.text.toLowerCase()).toContain(words.toLowerCase());
    const page = PAGES.find((name) => path.basename(name) === source) ?? '';
    const lines = readFileSync(path.join(ROOT, page), 'utf8').split('\n');
    expect(lines[(hit?.line ?? 0) - 1], 'the line is where it begins').toBe(hit?.text.split('\n')[0]);
    expect(await send('--skill', 'recall', query)).toContain(`1. ${source}:${hit?.line}`);
  });

  test('remembered twice stand there once, under the ids that they had', async () => {
    const before = await recall('incarnation', 50);
    const second = await sendForData('--skill', 'remember', ...PAGES.flatMap((page) => ['--file', page]));
    expect(second).toEqual(first);
    expect(await recall('incarnation', 50)).toEqual(before);
  });

  test('survive kill -9', async () => {
    const before = await recall('incarnation', 50);
    await server.kill();
    await serve();
    expect(await recall('incarnation', 50)).toEqual(before);
  });

  test('of which one has changed are replaced where they changed', async () => {
    const file = path.join(folder, 'tides.md');
    const section = (name: string, words: string) => `# ${name}\n\n${`${words} `.repeat(30)}\n`;
    writeFileSync(file, section('Springs', 'pelagic spring') + section('Neaps', 'benthic neap'));
    const { ids: before } = await sendForData('--skill', 'remember', '--file', file);
    await talk.task({ skill: 'share', data: { with: 'user=ben', memories: [...before] } });
    writeFileSync(
      file,
      `A new beginning.\n\n${section('Springs', 'littoral spring')}${section('Neaps', 'benthic neap')}`,
    );
    const after = await sendForData('--skill', 'remember', '--file', file);
    expect(after.forgotten).toBe(1);
    expect(after.ids).toContain(before[1]);
    expect(after.ids).not.toContain(before[0]);
    expect(await recall('pelagic')).toEqual([]);
    expect((await recall('littoral')).map(({ source }) => source)).toEqual(['tides.md']);
    expect((await recall('benthic')).map(({ id, line }) => [id, line])).toEqual([[before[1], 6]]);
  });
});

/** What a stream came to, in the words of a send. */
function outcomeOf(items: readonly StreamItem[]) {
  const [begun] = items;
  if (begun?.kind === 'message') return { messages: items.length, parts: begun.message.parts };
  const statuses = items.flatMap((item) => (item.kind === 'status' ? [item.status] : []));
  return {
    said: statuses.flatMap(({ message }) => (message === undefined ? [] : [message.parts])),
    state: statuses.at(-1)?.state,
    artifacts: items.flatMap((item) => (item.kind === 'artifact' ? [item.artifact.parts] : [])),
  };
}

function taskOutcome(task: RemoteTask) {
  return {
    said: [...task.history.filter(({ role }) => role === 'agent').map(({ parts }) => parts)],
    state: task.status.state,
    artifacts: task.artifacts.map(({ parts }) => parts),
  };
}

async function sentOutcome(door: AgentTalk, said: Utterance) {
  const item = await door.send(said);
  if (item.kind === 'message') return { messages: 1, parts: item.message.parts };
  if (item.kind !== 'task') throw new Error(`a send answered with a ${item.kind}`);
  return taskOutcome(item.task);
}

describe.each(['jsonrpc', 'rest'] as const)('over %s a stream comes to what a send does', (binding) => {
  const door = () => talkTo(server.url, { binding });
  /** The same words twice: what differs between two answers is ids of what each made. */
  const withoutIds = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID'));
  const file = (name: string): Part => ({
    kind: 'raw',
    raw: Buffer.from(`# Kelp\n\nKelp grows in ${name}.`),
    filename: name,
    mediaType: 'text/markdown',
  });

  test.each<[string, (way: string) => Utterance]>([
    ['remember a text', () => ({ skill: 'remember', text: 'Limpets hold fast.' })],
    ['remember a note', () => ({ skill: 'remember', data: { text: 'Limpets graze.', metadata: { by: 'ann' } } })],
    ['remember a file', () => ({ skill: 'remember', parts: [file(`kelp-${binding}.md`)] })],
    ['recall in words', () => ({ skill: 'recall', text: 'kelp' })],
    ['recall by a query', () => ({ skill: 'recall', data: { query: 'incarnation', max: 2 } })],
    ['recall what is not there', () => ({ skill: 'recall', text: 'zeppelin' })],
    ['forget a file that is not there', () => ({ skill: 'forget', text: 'nowhere.md' })],
    ['forget by an id', (way) => ({ skill: 'forget', data: { id: `no-${way}` } })],
  ])('%s: one message', async (_name, said) => {
    const sent = await sentOutcome(door(), said('sent'));
    const streamed = outcomeOf(await door().stream(said('streamed')));
    expect(streamed).toMatchObject({ messages: 1 });
    expect(withoutIds(streamed)).toEqual(withoutIds(sent));
  });

  test('forget a file', async () => {
    const forget = { skill: 'forget', data: { source: `crab-${binding}.md` } };
    const made = { skill: 'remember', parts: [file(`crab-${binding}.md`)] };
    await door().reply(made);
    const sent = await sentOutcome(door(), forget);
    await door().reply(made);
    const streamed = outcomeOf(await door().stream(forget));
    expect(sent).toMatchObject({ parts: [{ data: { forgotten: 1 } }] });
    expect(withoutIds(streamed)).toEqual(withoutIds(sent));
  });

  test('share: a status per item as it happens, the references, the terminal one last', async () => {
    const { ids } = dataOf(
      (await door().reply({ skill: 'remember', parts: [file(`a-${binding}.md`), file(`b-${binding}.md`)] })).parts,
    ) as Remembered;
    const data = { with: 'user=ben', memories: [ids[0] ?? '', 'never-was', ids[1] ?? ''] };
    const items = await door().stream({ skill: 'share', data });
    const streamed = outcomeOf(items);
    expect(streamed).toMatchObject({
      said: [
        [{ data: { id: ids[0], shared: true } }],
        [{ data: { id: 'never-was', shared: false } }],
        [{ data: { id: ids[1], shared: true } }],
      ],
      state: 'completed',
      artifacts: [[{ data: { memories: ids } }]],
    });
    expect(items.at(-1)).toMatchObject({ kind: 'status', status: { state: 'completed' } });
    const sent = await sentOutcome(door(), { skill: 'share', data });
    expect(sent).toMatchObject({ state: 'completed', artifacts: [[{ data: { memories: ids } }]] });
    expect(sent).toEqual(streamed);
  });
});

test('over native a reply streams one message, and a share its statuses', async () => {
  const door = nativeSessionDoor({ url: server.url });
  await talk.reply({ skill: 'remember', text: 'Whelks whistle.' });
  const reply = await readAll(await door.stream({ skill: 'recall', text: 'whelk' }));
  expect(reply.map(({ message }) => message?.role)).toEqual(['ROLE_AGENT']);
  const [hit] = await recall('whelk', 1);
  const parts = [{ data: { with: 'user=ben', memories: [hit?.id, 'never-was'] } }];
  const frames = await readAll(await door.stream({ skill: 'share', parts }));
  const said = frames.filter(({ kind, message }) => kind === 'status-changed' && message !== undefined);
  expect(said.map(({ message }) => message.parts[0].data.shared)).toEqual([true, false]);
  expect(frames.at(-1)).toMatchObject({ kind: 'status-changed', state: 'TASK_STATE_COMPLETED' });
});

test('a query shares what answers it best, not all that has one of its words', async () => {
  for (const [index, name] of ['rent', 'gas', 'water', 'phone', 'rates'].entries()) {
    await talk.reply({ skill: 'remember', text: `When the ${name} is due, pay ${index + 10} pounds to the landlady.` });
  }
  const rent = (await recall('rent pounds')).find(({ text }) => text.includes('rent'));
  const task = await talk.task({ skill: 'share', data: { with: 'user=ben', query: 'when is the rent due?' } });
  expect(task.artifacts.map(({ parts }) => parts)).toMatchObject([[{ data: { memories: [rent?.id] } }]]);
  const all = await talk.task({ skill: 'share', data: { with: 'user=ben', query: 'landlady' } });
  expect((dataOf(all.artifacts[0]?.parts) as { readonly memories: readonly string[] }).memories).toHaveLength(5);
});
