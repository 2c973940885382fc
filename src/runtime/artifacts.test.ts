import { describe, expect, test } from 'vitest';
import { defineAgent } from '../agent/define-agent.ts';
import type { PolicyOptions } from '../agent/definition.ts';
import type { ArtifactWriter, Chunk, TaskTurn } from '../agent/turn.ts';
import type { ArtifactUpdated } from '../model/event.ts';
import { RunWorld } from '../testing/run-world.ts';
import { digestBytes } from './content-digest.ts';

type Run = (turn: TaskTurn<string>, world: RunWorld) => unknown;

async function begun(run: Run, policy: PolicyOptions = {}): Promise<RunWorld> {
  const call = (turn: TaskTurn<string>): unknown => run(turn, world);
  const agent = defineAgent({ name: 'tester', description: 'd', run: call as never, policy });
  const world: RunWorld = await RunWorld.open({ agent });
  await world.send('hello');
  return world;
}

async function updates(world: RunWorld): Promise<readonly string[]> {
  return (await world.events()).flatMap((event) => {
    if (event.kind === 'artifact-discarded') return ['discarded'];
    return event.kind === 'artifact-updated' ? [brief(event)] : [];
  });
}

function brief({ append, parts, lastChunk }: ArtifactUpdated): string {
  const words = parts.map((part) => ('text' in part ? part.text : part.kind)).join('|');
  return `${append ? '+' : '='}${words}${lastChunk ? '.' : ''}`;
}

/** Writes the first chunks, dies, then writes the second ones in the next run; ends with `close` or without. */
async function rewritten(
  first: readonly Chunk[],
  second: readonly Chunk[],
  how: 'close' | 'return' | 'last' = 'close',
): Promise<RunWorld> {
  let runs = 0;
  const written = Promise.withResolvers<void>();
  const world = await begun(async (turn) => {
    runs += 1;
    const artifact = turn.artifact('a');
    const chunks = runs === 1 ? first : second;
    for (const [index, chunk] of chunks.entries()) {
      await artifact.append(chunk, { last: runs > 1 && how === 'last' && index === chunks.length - 1 });
    }
    await artifact.flush();
    written.resolve();
    if (runs === 1) await new Promise(() => {});
    if (how === 'close') await artifact.close();
  });
  await written.promise;
  await world.crash();
  await world.work();
  await world.untilNoneHeld();
  expect(await world.state()).toBe('completed');
  return world;
}

describe('an artifact', () => {
  test('opens with its header, and is closed when its handler succeeds', async () => {
    const world = await begun(async (turn) => {
      const artifact = turn.artifact('a.md', { mediaType: 'text/markdown', description: 'an a', metadata: { k: 1 } });
      await artifact.append('one ');
      await artifact.append('two');
    });
    const { content } = await world.snapshot();
    expect(content.artifacts).toMatchObject([
      {
        header: { name: 'a.md', description: 'an a', metadata: { k: 1 } },
        parts: [
          { kind: 'text', text: 'one ', mediaType: 'text/markdown' },
          { kind: 'text', text: 'two', mediaType: 'text/markdown' },
        ],
      },
    ]);
    expect(await updates(world)).toEqual(['=one ', '+two', '+.']);
  });

  test('the chunk that is marked last carries it; closing again is harmless', async () => {
    const world = await begun(async (turn) => {
      const artifact = turn.artifact('a');
      await artifact.append('one');
      await artifact.append('two', { last: true });
      await artifact.close();
    });
    expect(await updates(world)).toEqual(['=one', '+two.']);
  });

  test('keeps each chunk as it was given, whatever is written into the same buffer or object afterwards', async () => {
    const world = await begun(async (turn) => {
      const [small, large, data] = [turn.artifact('small'), turn.artifact('large'), turn.artifact('data')];
      const [buffer, big, progress] = [Buffer.alloc(1), Buffer.alloc(100_000), { done: 0 }];
      const metadata = { k: 1 };
      turn.artifact('header', { metadata }).append('x');
      metadata.k = 2;
      for (let done = 1; done <= 3; done += 1) {
        const given = [small.append(buffer.fill(done)), large.append(big.fill(done))];
        progress.done = done;
        given.push(data.append([{ kind: 'data', data: progress, metadata: progress }]));
        await given[0];
      }
    });
    await world.untilNoneHeld();
    const artifacts = (await world.snapshot()).content.artifacts;
    const partsOf = (name: string): readonly unknown[] =>
      artifacts.find(({ header }) => header.name === name)?.parts ?? [];
    expect(partsOf('small')).toEqual([1, 2, 3].map((byte) => ({ kind: 'raw', raw: Uint8Array.of(byte) })));
    const digests = [1, 2, 3].map((byte) => digestBytes(Buffer.alloc(100_000, byte)));
    expect(partsOf('large')).toMatchObject((await Promise.all(digests)).map((sha256) => ({ kind: 'blob', sha256 })));
    expect(partsOf('data')).toMatchObject([1, 2, 3].map((done) => ({ data: { done }, metadata: { done } })));
    expect(artifacts.find(({ header }) => header.name === 'header')?.header.metadata).toEqual({ k: 1 });
  });

  test('takes bytes that its own task holds, and no others', async () => {
    const file = { kind: 'raw', raw: new Uint8Array(100_000) } as const;
    const world = await begun(async (turn) => {
      if (turn.text === 'hello') return;
      await turn.artifact('own').append(turn.message.parts);
      const blob = turn.message.parts.find((part) => part.kind === 'blob');
      await turn.artifact('foreign').append([{ ...blob, blobNo: 99 } as never]);
    });
    await world.send([{ kind: 'text', text: 'again' }, file]);
    await world.untilNoneHeld();
    expect(world.logged.find(({ message }) => message === 'agent failed')?.fields).toMatchObject({
      code: 'invalid_agent_response',
    });
    const { artifacts } = (await world.snapshot()).content;
    expect(artifacts.map(({ header, parts }) => [header.name, parts.map(({ kind }) => kind)])).toContainEqual([
      'own',
      ['text', 'blob'],
    ]);
  });

  test('takes bytes, data, urls and whole parts', async () => {
    const world = await begun(async (turn) => {
      const artifact = turn.artifact('a', { mediaType: 'x/y' });
      await artifact.append(Uint8Array.of(1, 2));
      await artifact.append({ data: { n: 1 } });
      await artifact.append({ url: 'https://example.com/x' });
      await artifact.append([{ kind: 'text', text: 'whole', filename: 'w.txt' }]);
    });
    expect((await world.snapshot()).content.artifacts[0]?.parts).toEqual([
      { kind: 'raw', raw: Uint8Array.of(1, 2), mediaType: 'x/y' },
      { kind: 'data', data: { n: 1 }, mediaType: 'x/y' },
      { kind: 'url', url: 'https://example.com/x', mediaType: 'x/y' },
      { kind: 'text', text: 'whole', filename: 'w.txt' },
    ]);
  });

  test('nothing appended is no artifact; an empty one is made by closing it', async () => {
    const world = await begun(async (turn) => {
      turn.artifact('none');
      await turn.artifact('nothing yet').append('');
      await turn.artifact('empty').close();
    });
    expect(await updates(world)).toEqual(['=.', '=.']);
  });

  test('a chunk after the last one is the author’s error; the client’s stream is unharmed', async () => {
    const caught: unknown[] = [];
    const world = await begun(async (turn) => {
      const artifact = turn.artifact('a');
      await artifact.append('all', { last: true });
      await artifact.append('more').catch((error: unknown) => caught.push(error));
    });
    expect(caught[0]).toMatchObject({ name: 'AgentCodeError', page: 'append-after-last' });
    expect(world.logged.some(({ message }) => message === 'append after the last chunk')).toBe(true);
    expect(await updates(world)).toEqual(['=all.']);
    expect(await world.state()).toBe('completed');
  });

  test('the same name twice is two artifacts, each with an id that every run knows', async () => {
    const ids: string[][] = [];
    const world = await begun(async (turn) => {
      const writers: ArtifactWriter[] = [turn.artifact('a'), turn.artifact('a'), turn.artifact('b')];
      ids.push(writers.map(({ artifactId }) => artifactId));
      await turn.ask('Q?');
    });
    await world.answer('a');
    expect(new Set(ids[0]).size).toBe(3);
    expect(ids[1]).toEqual(ids[0]);
  });

  test('large bytes are staged first, and what follows them waits behind', async () => {
    const big = new Uint8Array(700_000).fill(7);
    const world = await begun(async (turn) => {
      const artifact = turn.artifact('a');
      artifact.append('before');
      artifact.append(big);
      artifact.append('after');
    });
    await world.untilNoneHeld();
    const parts = (await world.snapshot()).content.artifacts[0]?.parts;
    expect(parts?.map(({ kind }) => kind)).toEqual(['text', 'blob', 'text']);
    expect(parts?.[1]).toMatchObject({ bytes: 700_000 });
    expect(world.process.handle.calls.filter((name) => name === 'stageSlice')).toHaveLength(3);
  });

  test('pipe gives the whole text', async () => {
    const world = await begun((turn) => turn.pipe('a', ['one ', 'two']));
    expect(await updates(world)).toEqual(['=one ', '+two', '+.', '=one two.']);
  });
});

describe('a run after a crash writes over what the log holds', () => {
  test.each<[string, string[], string[], string[]]>([
    ['the same', ['It ', 'rains'], ['It ', 'rains'], ['=It ', '+rains', '+.']],
    ['cut elsewhere', ['It ', 'rains'], ['It', ' ra', 'ins'], ['=It ', '+rains', '+.']],
    ['more', ['It ', 'rai'], ['It rains', ' now'], ['=It ', '+rai', '+ns', '+ now', '+.']],
    ['something else', ['It ', 'rains'], ['It ', 'is ', 'wet'], ['=It ', '+rains', '=It is ', '+wet', '+.']],
    [
      'something else in the middle of a chunk',
      ['It rains'],
      ['It rolls', '!'],
      ['=It rains', '=It rolls', '+!', '+.'],
    ],
    ['something else from the start', ['It'], ['Wet'], ['=It', '=Wet', '+.']],
    ['less', ['It ', 'rains'], ['It '], ['=It ', '+rains', '=It .']],
    ['nothing', ['It'], [], ['=It', '=.']],
    ['half of a surrogate pair', ['a😀'], ['a😁'], ['=a😀', '=a😁', '+.']],
  ])('%s', async (_name, first, second, expected) => {
    const world = await rewritten(first, second);
    expect(await updates(world)).toEqual(expected);
    expect(await world.artifactText('a')).toBe(second.join(''));
  });

  test('with its last chunk half there', async () => {
    expect(await updates(await rewritten(['It ra'], ['It ', 'rains'], 'last'))).toEqual(['=It ra', '+ins.']);
    expect(await updates(await rewritten(['It rains'], ['It ', 'rains'], 'last'))).toEqual(['=It rains', '+.']);
  });

  test('other parts are compared whole', async () => {
    const one: Chunk[] = [{ data: { b: 1, a: 2 } }, Uint8Array.of(1), { url: 'https://a.example' }];
    const same: Chunk[] = [{ data: { a: 2, b: 1 } }, Uint8Array.of(1), { url: 'https://a.example' }];
    expect(await updates(await rewritten(one, same))).toEqual(
      ['=data', '+raw', '+https://a.example', '+.'].map((text) => text.replace('https://a.example', 'url')),
    );
    const other: Chunk[] = [{ data: { a: 2, b: 1 } }, Uint8Array.of(2)];
    expect(await updates(await rewritten(one, other))).toEqual(['=data', '+raw', '+url', '=data|raw', '+.']);
  });

  test('large bytes are known by their digest, and not staged again', async () => {
    const big = new Uint8Array(100_000).fill(3);
    const world = await rewritten([big, 'x'], [big, 'x', 'y']);
    expect(await updates(world)).toEqual(['=blob', '+x', '+y', '+.']);
    const other = await rewritten([big], [big.with(5, 4)]);
    expect(await updates(other)).toEqual(['=blob', '=blob', '+.']);
  });

  test('when the log holds its end, more of it replaces it', async () => {
    let runs = 0;
    const world = await begun(async (turn) => {
      runs += 1;
      const artifact = turn.artifact('a');
      await artifact.append('done');
      if (runs === 2) await artifact.append(' and more');
      await artifact.close();
      if (runs === 1) await new Promise(() => {});
    });
    await world.crash();
    await world.work();
    expect(await updates(world)).toEqual(['=done', '+.', '=done and more', '+.']);
  });

  test('what it does not take up is discarded before the terminal status', async () => {
    let runs = 0;
    const world = await begun(async (turn) => {
      runs += 1;
      if (runs > 1) return 'other';
      await turn.artifact('half').append('x');
      await turn.artifact('half').flush();
      return await new Promise(() => {});
    });
    await world.crash();
    await world.work();
    expect(await updates(world)).toEqual(['=x', '=other.', 'discarded']);
    expect((await world.events()).slice(-3).map(({ kind }) => kind)).toEqual([
      'artifact-discarded',
      'run-settled',
      'status-changed',
    ]);
    expect((await world.snapshot()).content.artifacts.map(({ header }) => header.name)).toEqual(['result']);
  });

  test('a run that parks or hands back discards nothing', async () => {
    const world = await begun(async (turn) => {
      if (turn.attempt === 1) await turn.artifact('half').append('x');
      await turn.ask('Q?');
      await turn.artifact('half').append('x');
    });
    expect(await updates(world)).toEqual(['=x']);
    await world.answer('a');
    expect(await updates(world)).toEqual(['=x', '+.']);
  });
});

describe('an agent that keeps no content', () => {
  const thin: PolicyOptions = { storeContent: false };

  test.each<[string, Run]>([
    ['text in an artifact', (turn) => turn.artifact('a').append('secret')],
    ['bytes in an artifact', (turn) => turn.artifact('a').append(Uint8Array.of(1))],
    ['a text as its result', () => 'secret'],
    ['a status', (turn) => turn.status('secret')],
    ['a question', (turn) => turn.ask('secret?')],
  ])('may not hand back %s', async (_name, run) => {
    const world = await begun(run, thin);
    expect(await world.state()).toBe('failed');
    expect(world.logged.find(({ message }) => message === 'agent failed')?.fields).toMatchObject({
      code: 'content-not-kept',
    });
    expect(JSON.stringify(await world.events())).not.toContain('secret');
  });

  test('hands back urls and ids', async () => {
    const world = await begun(async (turn) => {
      await turn.status({ data: { done: 1 } });
      await turn.artifact('a').append({ url: 'https://example.com' });
      await turn.artifact('b').append({ data: ['id-1'] });
    }, thin);
    expect(await world.state()).toBe('completed');
  });
});
