import { describe, expect, test } from 'vitest';
import type { Scope } from '../../src/model/scope.ts';
import type { MemoryId, MemoryWrite } from '../../src/store/memory-contract.ts';
import { AGENT, OTHER_AGENT, OTHER_SCOPE, REFUSED, type StoreWorld } from './builders.ts';
import type { OpenWorld } from './store-suite.ts';

const id = (text: string): MemoryId => text as MemoryId;
const remember = (name: string, text: string, source?: string): MemoryWrite => ({
  kind: 'remember',
  memory: { id: id(name), text, ...(source === undefined ? {} : { source }) },
});
const grant = (name: string, to: Scope): MemoryWrite => ({ kind: 'grant', id: id(name), to });
const forget = (name: string): MemoryWrite => ({ kind: 'forget', id: id(name) });

const search = async (world: StoreWorld, text: string, itemsMax = 10): Promise<string[]> =>
  (await world.scoped().memories.search({ text, itemsMax })).map(({ memory }) => memory.id);

export function describeMemories(open: OpenWorld): void {
  describe('memories', () => {
    describeMemoryRows(open);
    describeSearch(open);
    describeWords(open);
    describeOddQueries(open);
    describeMemoryScopes(open);
  });
}

function describeMemoryRows(open: OpenWorld): void {
  test('are read as they were remembered', async () => {
    const world = await open();
    const { memories } = world.scoped();
    const memory = { id: id('a'), text: 'the sea is salt', source: 'sea.md', metadata: { z: [1], a: null } };
    await memories.write([{ kind: 'remember', memory }, remember('b', 'plain')]);
    const createdAt = world.clock.now();
    expect(await memories.read(id('a'))).toStrictEqual({ ...memory, createdAt });
    expect(await memories.read(id('b'))).toStrictEqual({ id: 'b', text: 'plain', createdAt });
    expect(await memories.read(id('c'))).toBeUndefined();
    expect(await memories.grantsOf(id('c'))).toEqual([]);
  });

  test('are listed newest first, of one source too', async () => {
    const world = await open();
    const { memories } = world.scoped();
    await memories.write([remember('a', 'one', 'x'), remember('b', 'two', 'y')]);
    await world.clock.advance(1_000);
    await memories.write([remember('c', 'three', 'x')]);
    const ids = async (query: { itemsMax: number; source?: string }) => (await memories.list(query)).map((m) => m.id);
    expect(await ids({ itemsMax: 9 })).toEqual(['c', 'b', 'a']);
    expect(await ids({ itemsMax: 2 })).toEqual(['c', 'b']);
    expect(await ids({ itemsMax: 9, source: 'x' })).toEqual(['c', 'a']);
    expect(await ids({ itemsMax: 9, source: 'X' })).toEqual([]);
  });

  test('are listed page by page, whatever is forgotten on the way', async () => {
    const world = await open();
    const { memories } = world.scoped();
    const names = ['a', 'b', 'c', 'd', 'e'];
    await memories.write(names.map((name) => remember(name, name, name === 'c' ? 'y' : 'x')));
    const ids = async (query: { itemsMax: number; source?: string; before?: MemoryId }) =>
      (await memories.list(query)).map((m) => m.id);
    expect(await ids({ itemsMax: 2, source: 'x' })).toEqual(['e', 'd']);
    expect(await ids({ itemsMax: 2, source: 'x', before: id('d') })).toEqual(['b', 'a']);
    expect(await ids({ itemsMax: 2, before: id('d') })).toEqual(['c', 'b']);
    expect(await ids({ itemsMax: 2, before: id('a') })).toEqual([]);
    expect(await ids({ itemsMax: 2, before: id('never was') })).toEqual([]);
    expect((await world.scoped(AGENT, OTHER_SCOPE).memories.list({ itemsMax: 2, before: id('d') })).length).toBe(0);
  });

  test('are written all or none', async () => {
    const world = await open();
    const { memories } = world.scoped();
    await memories.write([remember('kept', 'before')]);
    const writes = [remember('new', 'after'), forget('kept'), grant('absent', OTHER_SCOPE)];
    await expect(memories.write(writes)).rejects.toMatchObject(REFUSED);
    expect((await memories.list({ itemsMax: 9 })).map((m) => m.id)).toEqual(['kept']);
    expect(await search(world, 'after')).toEqual([]);
    expect(await search(world, 'before')).toEqual(['kept']);
  });

  test('remembered again under one id are replaced', async () => {
    const world = await open();
    const { memories } = world.scoped();
    await memories.write([remember('a', 'old words', 'x')]);
    await memories.write([grant('a', OTHER_SCOPE)]);
    await memories.write([remember('a', 'new phrase')]);
    expect(await memories.list({ itemsMax: 9 })).toEqual([
      { id: 'a', text: 'new phrase', createdAt: world.clock.now() },
    ]);
    expect(await search(world, 'old')).toEqual([]);
    expect(await search(world, 'phrase')).toEqual(['a']);
    expect(await memories.grantsOf(id('a'))).toEqual([OTHER_SCOPE]);
  });

  test('that were forgotten are gone, with their grants', async () => {
    const world = await open();
    const { memories } = world.scoped();
    await memories.write([remember('a', 'the sea'), grant('a', OTHER_SCOPE)]);
    await memories.write([forget('a'), forget('never was')]);
    expect(await memories.read(id('a'))).toBeUndefined();
    expect(await memories.list({ itemsMax: 9 })).toEqual([]);
    expect(await search(world, 'sea')).toEqual([]);
    expect(await memories.grantsOf(id('a'))).toEqual([]);
    await memories.write([remember('a', 'the sea again')]);
    expect(await memories.grantsOf(id('a'))).toEqual([]);
  });

  test('granted twice to one scope are granted once', async () => {
    const world = await open();
    const { memories } = world.scoped();
    const third = 'user=c' as Scope;
    await memories.write([remember('a', 'x'), grant('a', OTHER_SCOPE), grant('a', OTHER_SCOPE)]);
    await memories.write([grant('a', third), grant('a', OTHER_SCOPE)]);
    expect([...(await memories.grantsOf(id('a')))].sort()).toEqual([OTHER_SCOPE, third]);
  });
}

const PASSAGES: readonly (readonly [string, string])[] = [
  ['lease', 'A worker renews its lease at a third of its length. A swept worker is dead for ever and registers anew.'],
  ['fence', 'The fence lives in the task row and grows with every grant and every revocation.'],
  ['cursor', 'A cursor carries the incarnation of the store, so a restored backup is noticed by its reader.'],
  ['cancel', 'Cancel is durable: the request is an event, and after it the only end is canceled.'],
  ['german', 'Die Müllabfuhr kommt am Dienstag; Straße und Hausnummer stehen im Kalender.'],
  ['long', `The store keeps tasks. ${'The store keeps everything that a task ever said. '.repeat(40)}`],
];

function describeSearch(open: OpenWorld): void {
  test('finds the right passage', async () => {
    const world = await open();
    await world.scoped().memories.write(PASSAGES.map(([name, text]) => remember(name, text)));
    for (const [query, expected] of [
      ['who renews the lease of a worker?', 'lease'],
      ['FENCE grows', 'fence'],
      ['restored backup', 'cursor'],
      ['is cancel durable', 'cancel'],
      ['müllabfuhr dienstag', 'german'],
      ['incarnation nonsense-word', 'cursor'],
    ]) {
      const hits = await world.scoped().memories.search({ text: query as string, itemsMax: 10 });
      expect(hits[0]?.memory.id, query).toBe(expected);
      expect(hits[0]?.memory.text, query).toBe(PASSAGES.find(([name]) => name === expected)?.[1]);
      const ranks = hits.map(({ rank }) => rank);
      expect(ranks, query).toEqual([...ranks].sort((a, b) => b - a));
    }
  });

  test('puts passages with more of the words first, and rarer words before common ones', async () => {
    const world = await open();
    await world
      .scoped()
      .memories.write([
        remember('both', 'apple banana'),
        remember('rare', 'banana cherry'),
        ...Array.from({ length: 8 }, (_, index) => remember(`common-${index}`, `apple number${index}`)),
      ]);
    expect((await search(world, 'apple banana'))[0]).toBe('both');
    expect((await search(world, 'apple cherry'))[0]).toBe('rare');
    expect(await search(world, 'apple', 3)).toHaveLength(3);
    expect(await search(world, 'durian')).toEqual([]);
  });
}

function describeWords(open: OpenWorld): void {
  test('a rare word outweighs many frequent ones', async () => {
    const world = await open();
    const { memories } = world.scoped();
    const frequent = 'how does the server know when a task is over and what it should do';
    await memories.write([
      remember('rare', 'An incarnation is drawn anew at each restore.'),
      ...Array.from({ length: 30 }, (_, index) => remember(`frequent-${index}`, `${frequent} number${index}`)),
      ...Array.from({ length: 70 }, (_, index) => remember(`other-${index}`, `something else, number ${index}`)),
    ]);
    const query = 'how does the server know when the incarnation should be drawn';
    const ids = await search(world, query);
    expect(ids[0]).toBe('rare');
    expect(ids, 'what only common words would find is left out').toEqual(['rare']);
    expect(await search(world, 'how does the server know', 50), 'unless there are no others').toHaveLength(30);
  });

  test('are found by any form of their English words', async () => {
    const world = await open();
    await world
      .scoped()
      .memories.write([
        remember('lease', 'Expired leases are swept by whoever renewed last.'),
        remember('tide', 'Tides turn twice a day.'),
        remember('news', 'Straßen und Äpfel'),
      ]);
    for (const [query, expected] of [
      ['LEASE', 'lease'],
      ['leasing', 'lease'],
      ['renews', 'lease'],
      ['sweep', undefined],
      ['the tide turned', 'tide'],
      ['äpfel', 'news'],
    ] as const) {
      expect(await search(world, query), query).toEqual(expected === undefined ? [] : [expected]);
    }
  });
}

function describeOddQueries(open: OpenWorld): void {
  const queries = [
    '',
    ' ',
    '"',
    '""',
    "'",
    '*',
    'AND',
    'AND (',
    'OR',
    'NOT',
    'NEAR(',
    'a AND',
    '(',
    ')',
    '^',
    ':',
    'text:',
    '-',
    '--',
    '&',
    '|',
    '!',
    '<->',
    '\\',
    '%',
    '_',
    ';',
    '{',
    '}',
    '[',
    ']',
    '😀',
    '\u0000',
    'a\u0000b',
    '\ud800',
    '…',
    'x'.repeat(100_000),
    'a '.repeat(20_000),
    '日本',
    '$1',
    '?',
    '@',
    '+',
    '~',
    '#',
    'a:*',
    "a' or 1=1",
  ];

  test('find something or nothing and never fail', async () => {
    const world = await open();
    await world
      .scoped()
      .memories.write([
        remember('plain', 'and or not near text a b x'),
        remember('marks', '" \' * ( ) ^ : - & | ! % _'),
        remember('nothing', ''),
      ]);
    for (const query of queries) {
      const hits = await world.scoped().memories.search({ text: query, itemsMax: 5 });
      expect(hits.length).toBeLessThanOrEqual(5);
    }
  });

  test('are words, not operators', async () => {
    const world = await open();
    await world
      .scoped()
      .memories.write([
        remember('cat', 'the cat sat'),
        remember('dog', 'the dog ran'),
        remember('quoted', 'she said never'),
      ]);
    expect((await search(world, 'cat NOT dog')).sort()).toEqual(['cat', 'dog']);
    expect((await search(world, 'cat AND dog')).sort()).toEqual(['cat', 'dog']);
    expect((await search(world, '"cat dog"')).sort()).toEqual(['cat', 'dog']);
    expect(await search(world, '"never" (said)')).toEqual(['quoted']);
    expect(await search(world, 'text:cat')).toContain('cat');
  });
}

function describeMemoryScopes(open: OpenWorld): void {
  test('are of one agent in one scope', async () => {
    const world = await open();
    await world.scoped().memories.write([remember('a', 'the sea', 'x')]);
    for (const other of [world.scoped(AGENT, OTHER_SCOPE), world.scoped(OTHER_AGENT)]) {
      expect(await other.memories.read(id('a'))).toBeUndefined();
      expect(await other.memories.list({ itemsMax: 9 })).toEqual([]);
      expect(await other.memories.search({ text: 'sea', itemsMax: 9 })).toEqual([]);
      expect(await other.memories.grantsOf(id('a'))).toEqual([]);
      await other.memories.write([forget('a')]);
      await expect(other.memories.write([grant('a', OTHER_SCOPE)])).rejects.toMatchObject(REFUSED);
      await other.memories.write([remember('a', 'a lake')]);
      expect((await other.memories.search({ text: 'lake', itemsMax: 9 })).map((hit) => hit.memory.id)).toEqual(['a']);
    }
    expect(await world.scoped().memories.read(id('a'))).toMatchObject({ text: 'the sea' });
    expect(await search(world, 'lake')).toEqual([]);
  });
}
