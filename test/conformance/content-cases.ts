import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/base/json.ts';
import type { ArtifactId } from '../../src/model/ids.ts';
import type { Part } from '../../src/model/message.ts';
import type { MemoryId } from '../../src/store/memory-contract.ts';
import { chunk, endWrite, eventFacts, FIRST_TURN, status, text } from './builders.ts';
import type { OpenWorld } from './store-suite.ts';

/** Texts that some database, driver or encoding is known to change. */
const TEXTS: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['a NUL', 'a\u0000b'],
  ['a NUL alone', '\u0000'],
  ['control characters', '\u0001\u0008\u000b\u001f\u007f\u0085'],
  ['line ends', 'a\r\nb\rc\nd\u2028e\u2029f'],
  ['a lone high surrogate', 'a\ud800'],
  ['a lone low surrogate', '\udc00b'],
  ['surrogates in the wrong order', '\udc00\ud800'],
  ['a replacement character', '\ufffd'],
  ['a byte order mark', '\ufeffa'],
  ['composed and decomposed', '\u00e9 e\u0301'],
  ['many planes', '𝒜 👩‍👩‍👧 日本 ‮ ar'],
  ['what looks like an escape', '\\u0000 \\x00 \\ " \' $1 ? :a %s'],
  ['spaces at both ends', '  a\t '],
  ['length', 'x'.repeat(100_000)],
];

const VALUES: readonly (readonly [string, Json])[] = [
  ['null', null],
  ['the largest safe integer', 2 ** 53 - 1],
  ['the smallest safe integer', -(2 ** 53 - 1)],
  ['fractions', [0.1, 1e-7, 1.5e300, 5e-324]],
  ['the order of keys', { z: 1, a: { y: 2, b: 3 }, m: [] }],
  ['keys like __proto__', JSON.parse('{"__proto__":{"a":1},"constructor":2,"toString":3,"b":{"__proto__":null}}')],
  ['an empty key', { '': { '': '' } }],
  ['odd keys', { 'a\u0000': 1, '\ud800': 2, é: 3, 'a.b': 4, $x: 5 }],
  ['nothing inside', [[], {}, [[]], '']],
  ['what looks like ours', { $bytes: 'AA==', kind: 'raw', raw: 'AAECAw==' }],
];

export function describeContent(open: OpenWorld): void {
  describe('content comes back as it was written:', () => {
    describeTexts(open);
    describeParts(open);
    describeBesideTheLog(open);
  });
}

/** Equal to the last bit, the order of keys included. */
function expectSame(actual: unknown, expected: unknown): void {
  expect(actual).toEqual(expected);
  expect(JSON.stringify(actual)).toBe(JSON.stringify(expected));
}

function describeTexts(open: OpenWorld): void {
  test('text parts', async () => {
    const world = await open();
    const parts = TEXTS.map(([, words]) => text(words));
    const { task, grant } = await world.start({ parts });
    await world.store.append(grant, { emitNo: 0, facts: eventFacts(chunk(grant, { parts })) });
    const message = (await world.scoped().readSnapshot(task.id, { artifacts: false }))?.content.history[0];
    const artifact = await world.scoped().readArtifact(task.id, 'artifact' as ArtifactId);
    TEXTS.forEach(([what], index) => {
      expect([what, message?.parts[index]]).toEqual([what, parts[index]]);
      expect([what, artifact?.parts[index]]).toEqual([what, parts[index]]);
    });
  });

  test('data parts and metadata', async () => {
    const world = await open();
    const parts: Part[] = VALUES.map(([, data]) => ({ kind: 'data', data, metadata: { value: data } }));
    const metadata = Object.fromEntries(VALUES) as JsonObject;
    const { task, grant } = await world.start({ parts, more: { metadata } });
    await world.store.append(grant, { emitNo: 0, facts: eventFacts(chunk(grant, { parts, header: { metadata } })) });
    const message = (await world.scoped().readSnapshot(task.id, { artifacts: false }))?.content.history[0];
    const artifact = await world.scoped().readArtifact(task.id, 'artifact' as ArtifactId);
    expectSame(message?.parts, parts);
    expectSame(artifact?.parts, parts);
    expectSame(artifact?.header.metadata, metadata);
    expectSame((await world.scoped().readTask(task.id))?.task.metadata, metadata);
    expectSame((await world.events(task))[5], {
      ...chunk(grant, { parts, header: { metadata } }),
      seq: 6,
      at: task.headAt,
    });
  });
}

function describeParts(open: OpenWorld): void {
  test('parts of every kind, with and without what they may carry', async () => {
    const world = await open();
    const common = { mediaType: 'text/plain', filename: 'ä "x".txt', metadata: { a: null } };
    const bare: Part[] = [
      { kind: 'text', text: 'x' },
      { kind: 'raw', raw: Uint8Array.from([0, 255, 128, 10, 13]) },
      { kind: 'raw', raw: new Uint8Array(0) },
      { kind: 'url', url: 'https://example.com/ä?b=%00' },
      { kind: 'data', data: null },
      { kind: 'withheld', of: 'raw' },
    ];
    const parts = [...bare, ...bare.map((part) => ({ ...part, ...common }))];
    const { task, grant } = await world.start({ parts });
    await world.store.append(grant, { emitNo: 0, facts: eventFacts(chunk(grant, { parts })) });
    const snapshot = await world.scoped().readSnapshot(task.id, { artifacts: true });
    const plain = (list: readonly Part[] | undefined) =>
      list?.map((part) => (part.kind === 'raw' ? { ...part, raw: Array.from(part.raw) } : part));
    expect(plain(snapshot?.content.history[0]?.parts)).toStrictEqual(plain(parts));
    expect(plain(snapshot?.content.artifacts[0]?.parts)).toStrictEqual(plain(parts));
    const raw = snapshot?.content.artifacts[0]?.parts[1];
    expect(raw?.kind === 'raw' && raw.raw instanceof Uint8Array).toBe(true);
  });

  test('every field of a message', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const message = {
      messageId: 'm' as never,
      role: 'agent' as const,
      parts: [text('x')],
      contextId: task.contextId,
      taskId: task.id,
      referenceTaskIds: ['a', ''],
      extensions: ['https://example.com/x'],
      metadata: { z: 1, a: 2 },
    };
    const failed = { kind: 'status-changed' as const, state: 'failed' as const, message, errorId: 'e1' };
    const write = endWrite(grant, 'failed');
    await world.settle(grant, { ...write, events: [...write.events.slice(0, -1), failed] });
    expectSame((await world.events(task)).at(-1), { ...failed, seq: 7, at: world.clock.now() });
    const snapshot = await world.scoped().readSnapshot(task.id, { artifacts: false });
    expectSame(snapshot?.content.statusMessage, message);
  });
}

function describeBesideTheLog(open: OpenWorld): void {
  test('the journal and the state of a session', async () => {
    const world = await open();
    for (const [what, words] of TEXTS) {
      const { task, grant } = await world.start();
      const key = `step:${words.slice(0, 1_000)}`;
      const entry = { key, kind: 'step' as const, state: 'done' as const, result: words };
      await world.store.append(grant, {
        emitNo: 0,
        facts: [
          { kind: 'journal', entry: { turnNo: FIRST_TURN, ...entry } },
          { kind: 'session-state', key, value: words },
        ],
      });
      expect((await world.store.readTurn(grant)).journal, what).toEqual([entry]);
      expect(await world.store.readSessionState(task.sessionNo, key), what).toBe(words);
      expect(await world.store.readSessionState(task.sessionNo, `${key}x`), what).toBeUndefined();
    }
  });

  test('reasons and names', async () => {
    const world = await open();
    for (const [what, words] of TEXTS) {
      const { task, grant } = await world.start();
      await world.command(task, { events: [{ kind: 'cancel-requested', by: words }] });
      const write = endWrite(grant, 'canceled');
      const runs = [{ kind: 'settle' as const, runNo: grant.runNo, outcome: 'canceled' as const, reason: words }];
      await world.settle(grant, { ...write, runs });
      expect((await world.scoped().listRuns(task.id))?.[0], what).toMatchObject({ reason: words });
      expect((await world.scoped().readTask(task.id))?.task.cancelBy, what).toBe(words);
    }
  });

  test('memories', async () => {
    const world = await open();
    const { memories } = world.scoped();
    for (const [what, words] of TEXTS) {
      const memory = { id: world.id<MemoryId>('m'), text: words, source: words.slice(0, 1_000), metadata: { words } };
      await memories.write([{ kind: 'remember', memory }]);
      const expected = { ...memory, createdAt: world.clock.now() };
      expect(await memories.read(memory.id), what).toEqual(expected);
      expect(await memories.list({ itemsMax: 5, source: memory.source }), what).toEqual([expected]);
    }
  });

  test('events of every kind', async () => {
    const world = await open();
    const { task } = await world.start();
    const events = [
      { kind: 'question-asked' as const, askId: 'ask:\u0000', question: { z: '\ud800', a: 1 } },
      { kind: 'question-answered' as const, askId: 'ask:x', how: 'declined' as const },
      { kind: 'timer-set' as const, key: 'sleep:x', wakeAt: world.clock.now() },
      { kind: 'timer-fired' as const, key: 'sleep:x' },
      { kind: 'message-dropped' as const, messageId: 'm' as never, turnNo: FIRST_TURN },
      { kind: 'artifact-discarded' as const, artifactId: 'a' as ArtifactId },
      {
        kind: 'run-settled' as const,
        runId: 'r' as never,
        turnNo: FIRST_TURN,
        outcome: 'timed-out' as const,
        reason: '\u0000',
      },
      status('working'),
    ];
    await world.command(task, { events });
    const at = world.clock.now();
    expectSame(
      (await world.events(task)).slice(5),
      events.map((event, index) => ({ ...event, seq: 6 + index, at })),
    );
  });
}
