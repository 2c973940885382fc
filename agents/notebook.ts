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
const PAGE_MAX = 100;

const Metadata = z.record(z.string(), z.json());
const Note = z.object({
  text: z.string().min(1),
  source: z.string().min(1).max(512).optional(),
  metadata: Metadata.optional(),
});
const Question = z.object({ query: z.string().min(1), max: z.int().min(1).max(HITS_MAX).default(5) });
const MemoryIds = z.array(z.string().min(1).max(256)).min(1).max(1_000);

interface Document {
  readonly text: string;
  readonly source?: string;
  readonly metadata?: JsonObject;
}

/** What a message brings: its files when it has any, else its note or its text. */
async function documentsOf(turn: BaseTurn<string | z.output<typeof Note>>): Promise<readonly Document[]> {
  if (turn.files.length > 0) return await Promise.all(turn.files.map(readFile));
  if (typeof turn.input === 'string') return [{ text: turn.input }];
  const { text, source, metadata } = turn.input;
  return [
    {
      text,
      ...(source === undefined ? {} : { source }),
      ...(metadata === undefined ? {} : { metadata: metadata as JsonObject }),
    },
  ];
}

async function readFile(file: FilePart): Promise<Document> {
  const name = file.name ?? 'the file';
  if (file.url !== undefined) throw new Reject(`${name} came as a URL, which is not fetched. Send the file itself.`);
  const text = decodeText(await file.bytes());
  if (text === undefined) throw new Reject(`${name} is not a text in UTF-8. Only texts can be remembered.`);
  return { text, ...(file.name === undefined ? {} : { source: file.name }) };
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

/** The passages of a document, each with its place in it; a short note is one passage and needs no place. */
export function passagesOf(
  document: Document,
): readonly { readonly text: string; readonly source?: string; readonly metadata?: JsonObject }[] {
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
    'Keeps a text, a note {text, source?, metadata?}, or text files. Files are cut into passages that know their file, heading and line. Answers the ids of the passages.',
  tags: ['memory'],
  examples: ['The tide turns at six.', '{"text": "Rent is due on the 3rd.", "source": "lease.txt"}'],
  inputModes: ['text/plain', 'text/markdown', 'application/json', '*/*'],
  outputModes: ['application/json'],
  input: z.union([z.string(), Note]),
  output: z.object({ passages: z.int(), ids: z.array(z.string()) }),
  async run(turn) {
    const passages = (await documentsOf(turn)).flatMap(passagesOf);
    if (passages.length === 0) throw new Reject('There is nothing to remember: send a text, a note or a text file.');
    if (passages.length > PASSAGES_MAX) {
      throw new Reject(`That makes ${passages.length} passages; one message may bring ${PASSAGES_MAX}.`);
    }
    const ids: string[] = [];
    for (const passage of passages) ids.push((await turn.memories.remember(passage)).id);
    return { passages: ids.length, ids };
  },
});

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
  return await idsOfSource(memories, source);
}

async function idsOfSource(memories: Memories, source: string): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const last = ids.at(-1);
    const page = await memories.list({ source, max: PAGE_MAX, ...(last === undefined ? {} : { before: last }) });
    if (page.length === 0) return ids;
    ids.push(...page.map((passage) => passage.id));
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
    'Lets another reader see passages: those with the given ids, or those that a query finds. Says each as it is shared, and hands back references.',
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
    if (shared.length > 0) {
      await turn
        .artifact('references', { mediaType: 'application/json' })
        .append({ data: { memories: shared } }, { last: true });
    }
  },
});

async function idsToShare(turn: TaskTurn<z.output<typeof Shared>>): Promise<readonly string[]> {
  const { memories, query } = turn.input;
  if (memories !== undefined) return [...new Set(memories)];
  return (await turn.memories.recall(query ?? '', { max: HITS_MAX })).map((hit) => hit.id);
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
