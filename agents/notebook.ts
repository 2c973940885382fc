import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import {
  type BaseTurn,
  defineAgent,
  type FilePart,
  type JsonObject,
  type Memories,
  type MemoryPassage,
  Reject,
  reply,
  skill,
  type TaskTurn,
} from '../src/index.ts';
import { splitPassages } from './passages.ts';

/** Passages one message may bring: as many as an 8 MiB text has. */
const PASSAGES_MAX = 10_000;
const HITS_MAX = 50;
/** A query shares what gathers at least this part of what its best passage does: that holds its rare words too. */
const SHARED_RANK_MIN = 0.6;
const PAGE_MAX = 100;

const Metadata = z.record(z.string(), z.json());
const Note = z.object({
  text: z.string().min(1),
  source: z.string().min(1).max(512).optional(),
  metadata: Metadata.optional(),
});
/** What a file that comes along is called, where its own name would not tell it from another. */
const FileName = z.strictObject({ source: z.string().min(1).max(512) });
const Question = z.object({ query: z.string().min(1), max: z.int().min(1).max(HITS_MAX).default(5) });
const MemoryIds = z.array(z.string().min(1).max(256)).min(1).max(1_000);

interface Document {
  /** A file is the whole of what its name stands for; a note is one of many. */
  readonly kind: 'file' | 'note';
  readonly text: string;
  readonly source?: string;
  readonly metadata?: JsonObject;
}

type Remembered = string | z.output<typeof Note> | z.output<typeof FileName>;

/** What a message brings: its files when it has any, else its note or its text. */
async function documentsOf({ files, input }: BaseTurn<Remembered>): Promise<readonly Document[]> {
  if (files.length > 0) return await filesOf(files, typeof input === 'string' ? undefined : input.source);
  if (typeof input === 'string') return [{ kind: 'note', text: input }];
  if (!('text' in input)) throw new Reject(`No file came along to be called ${input.source}.`);
  const { text, source, metadata } = input;
  return [
    {
      kind: 'note',
      text,
      ...(source === undefined ? {} : { source }),
      ...(metadata === undefined ? {} : { metadata: metadata as JsonObject }),
    },
  ];
}

async function filesOf(files: readonly FilePart[], source: string | undefined): Promise<readonly Document[]> {
  const documents = await Promise.all(files.map(readFile));
  if (source === undefined) return documents;
  if (documents.length > 1) {
    throw new Reject(`${source} names one file, and ${documents.length} came. Send each alone.`);
  }
  return documents.map((document) => ({ ...document, source }));
}

async function readFile(file: FilePart): Promise<Document> {
  const name = file.name ?? 'the file';
  if (file.url !== undefined) throw new Reject(`${name} came as a URL, which is not fetched. Send the file itself.`);
  const text = decodeText(await file.bytes());
  if (text === undefined) throw new Reject(`${name} is not a text in UTF-8. Only texts can be remembered.`);
  return { kind: 'file', text, ...(file.name === undefined ? {} : { source: file.name }) };
}

/** Undefined for bytes that are no text. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

type NewPassage = Pick<MemoryPassage, 'text' | 'source' | 'metadata'>;

/** The passages of a document, each with its place in it; a short note is one passage and needs no place. */
export function passagesOf(document: Omit<Document, 'kind'>): readonly NewPassage[] {
  const passages = splitPassages(document.text);
  return passages.map(({ text, line, heading }) => {
    const isWhole = passages.length === 1 && document.source === undefined;
    const place = isWhole ? {} : { line, ...(heading === undefined ? {} : { heading }) };
    const metadata: JsonObject = { ...document.metadata, ...place };
    return {
      text,
      ...(document.source === undefined ? {} : { source: document.source }),
      ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    };
  });
}

const remember = reply({
  title: 'Remember',
  description:
    'Keeps a text, a note {text, source?, metadata?}, or text files. Files are cut into passages that know their file, heading and line; a file that is sent again replaces what was kept under its name, or under the {source} that comes with it. Answers the ids of the passages, and how many of an earlier version are forgotten.',
  tags: ['memory'],
  examples: ['The tide turns at six.', '{"text": "Rent is due on the 3rd.", "source": "lease.txt"}'],
  inputModes: ['text/plain', 'text/markdown', 'application/json', '*/*'],
  outputModes: ['application/json'],
  input: z.union([z.string(), Note, FileName]),
  output: z.object({ passages: z.int(), ids: z.array(z.string()), forgotten: z.int() }),
  async run(turn) {
    const documents = await documentsOf(turn);
    const passages = documents.flatMap(passagesOf);
    if (passages.length === 0) throw new Reject('There is nothing to remember: send a text, a note or a text file.');
    if (passages.length > PASSAGES_MAX) {
      throw new Reject(`That makes ${passages.length} passages; one message may bring ${PASSAGES_MAX}.`);
    }
    const former = await formerPassages(turn.memories, documents);
    const ids: string[] = [];
    for (const passage of passages) ids.push(await keep(turn.memories, passage, former));
    const gone = documents.some(({ kind }) => kind === 'file') ? [...former.values()].flat() : [];
    for (const { id } of gone) await turn.memories.forget(id);
    return { passages: ids.length, ids, forgotten: gone.length };
  },
});

/** Passages that are kept under the names of these documents, by their words. */
async function formerPassages(
  memories: Memories,
  documents: readonly Document[],
): Promise<Map<string, MemoryPassage[]>> {
  const sources = new Set(documents.flatMap(({ source }) => (source === undefined ? [] : [source])));
  const former = new Map<string, MemoryPassage[]>();
  for (const source of sources) {
    for (const passage of await passagesFrom(memories, source)) {
      former.set(wordsKey(passage), [...(former.get(wordsKey(passage)) ?? []), passage]);
    }
  }
  return former;
}

function wordsKey({ source, text }: NewPassage): string {
  return JSON.stringify([source, text]);
}

/** Keeps a passage once: one with the same words stays under its id, for whoever it is shared with, and takes its new place. */
async function keep(memories: Memories, passage: NewPassage, former: Map<string, MemoryPassage[]>): Promise<string> {
  const known = former.get(wordsKey(passage))?.pop();
  if (known !== undefined && isDeepStrictEqual(known.metadata, passage.metadata)) return known.id;
  return (await memories.remember({ ...passage, ...(known === undefined ? {} : { id: known.id }) })).id;
}

const Hit = z.object({
  id: z.string(),
  text: z.string(),
  source: z.string().optional(),
  heading: z.string().optional(),
  line: z.int().optional(),
  metadata: Metadata.optional(),
  rank: z.number(),
});
export type RecalledPassage = z.output<typeof Hit>;

function hitOf({ id, text, source, metadata, rank }: MemoryPassage & { readonly rank: number }): z.input<typeof Hit> {
  const { heading, line, ...own } = metadata ?? {};
  return {
    id,
    text,
    ...(source === undefined ? {} : { source }),
    ...(typeof heading === 'string' ? { heading } : {}),
    ...(typeof line === 'number' ? { line } : {}),
    ...(Object.keys(own).length === 0 ? {} : { metadata: own as z.input<typeof Metadata> }),
    rank,
  };
}

/** `design.md:42 (Storage)`: where a passage comes from; its id where nobody said. */
export function placeOf({ id, source, line, heading }: RecalledPassage): string {
  const place = source === undefined ? `note ${id}` : line === undefined ? source : `${source}:${line}`;
  return heading === undefined ? place : `${place} (${heading})`;
}

const recall = reply({
  title: 'Recall',
  description: 'Finds passages by their words, best first, each with the file and line it comes from.',
  tags: ['memory', 'search'],
  examples: ['when does the tide turn?', '{"query": "rent", "max": 3}'],
  inputModes: ['text/plain', 'application/json'],
  outputModes: ['text/plain', 'application/json'],
  effect: 'none',
  input: z.union([z.string().min(1), Question]),
  output: z.object({ query: z.string(), hits: z.array(Hit) }),
  say: ({ query, hits }) =>
    hits.length === 0
      ? `Nothing is remembered about "${query}".`
      : hits.map((hit, index) => `${index + 1}. ${placeOf(hit)}\n${hit.text}`).join('\n\n'),
  async run(turn) {
    const { query, max } = typeof turn.input === 'string' ? { query: turn.input, max: 5 } : turn.input;
    return { query, hits: (await turn.memories.recall(query, { max })).map(hitOf) };
  },
});

const forget = reply({
  title: 'Forget',
  description: 'Forgets one passage by {id}, or all of a file by {source}. A text is taken as the one or the other.',
  tags: ['memory'],
  examples: ['{"source": "lease.txt"}'],
  inputModes: ['text/plain', 'application/json'],
  outputModes: ['application/json'],
  input: z.union([
    z.string().min(1),
    z.strictObject({ id: z.string().min(1) }),
    z.strictObject({ source: z.string().min(1) }),
  ]),
  output: z.object({ forgotten: z.int(), ids: z.array(z.string()) }),
  async run(turn) {
    const ids = await idsToForget(turn);
    for (const id of ids) await turn.memories.forget(id);
    return { forgotten: ids.length, ids };
  },
});

async function idsToForget(
  turn: BaseTurn<string | { readonly id: string } | { readonly source: string }>,
): Promise<string[]> {
  const { input, memories } = turn;
  const id = typeof input === 'string' ? input.trim() : 'id' in input ? input.id : undefined;
  if (id !== undefined && (await memories.read(id)) !== undefined) return [id];
  const source = typeof input === 'string' ? input.trim() : 'source' in input ? input.source : undefined;
  if (source === undefined) return [];
  return (await passagesFrom(memories, source)).map((passage) => passage.id);
}

/** All passages of a source, newest first. */
async function passagesFrom(memories: Memories, source: string): Promise<readonly MemoryPassage[]> {
  const passages: MemoryPassage[] = [];
  for (;;) {
    const last = passages.at(-1)?.id;
    const page = await memories.list({ source, max: PAGE_MAX, ...(last === undefined ? {} : { before: last }) });
    if (page.length === 0) return passages;
    passages.push(...page);
  }
}

const Shared = z
  .object({ with: z.string().min(1).max(512), memories: MemoryIds.optional(), query: z.string().min(1).optional() })
  .refine(
    ({ memories, query }) => (memories === undefined) !== (query === undefined),
    'needs either memories or query',
  );

const share = skill({
  title: 'Share',
  description:
    'Lets another reader see passages: those with the given ids, or those that answer a query best. Says each as it is shared, and hands back references.',
  tags: ['memory', 'sharing'],
  examples: ['{"with": "https://issuer.example|ben", "query": "rent"}'],
  inputModes: ['application/json'],
  outputModes: ['application/json'],
  input: Shared,
  async run(turn) {
    const ids = await turn.step('find', () => idsToShare(turn));
    const shared: string[] = [];
    for (const id of ids) {
      const isShared = await turn.step(`share ${id}`, () => grant(turn, id));
      if (isShared) shared.push(id);
      await turn.status({ data: { id, shared: isShared } });
    }
    await turn
      .artifact('references', { mediaType: 'application/json' })
      .append({ data: { memories: shared } }, { last: true });
  },
});

async function idsToShare(turn: TaskTurn<z.output<typeof Shared>>): Promise<readonly string[]> {
  const { memories, query } = turn.input;
  if (memories !== undefined) return [...new Set(memories)];
  const hits = await turn.memories.recall(query ?? '', { max: HITS_MAX });
  const best = hits[0]?.rank ?? 0;
  return hits.filter(({ rank }) => rank >= best * SHARED_RANK_MIN).map(({ id }) => id);
}

/** False for an id that is not, or no longer, remembered. */
async function grant(turn: TaskTurn<z.output<typeof Shared>>, id: string): Promise<boolean> {
  if ((await turn.memories.read(id)) === undefined) return false;
  await turn.memories.grant(id, turn.input.with);
  return true;
}

export default defineAgent({
  name: 'notebook',
  description:
    'A memory for agents: keeps texts and files, finds the passage and says where it came from, forgets, shares.',
  policy: { storeContent: false },
  skills: { remember, recall, forget, share },
});
