import { describe, expect, test } from 'vitest';
import type { ArtifactUpdated } from '../../src/model/event.ts';
import type { ArtifactId } from '../../src/model/ids.ts';
import { emptyContent, foldContent } from '../../src/model/task-fold.ts';
import type { Grant } from '../../src/store/contract.ts';
import { type ChunkOptions, chunk, eventFacts, type StoreWorld, text } from './builders.ts';
import type { OpenWorld } from './store-suite.ts';

const HEADER = { name: 'report', description: 'what came of it', metadata: { b: 1, a: 2 }, extensions: ['x'] };
const id = (text: string): ArtifactId => text as ArtifactId;

/** Writes updates one by one and gives the artifacts that the store then shows, checked against the fold. */
async function write(
  world: StoreWorld,
  grant: Grant,
  updates: readonly (ChunkOptions | { readonly discard: string })[],
) {
  const events = updates.map((update) =>
    'discard' in update
      ? { kind: 'artifact-discarded' as const, artifactId: id(update.discard), runNo: grant.runNo }
      : chunk(grant, update),
  );
  const { emitNo } = (await world.view(grant)).task;
  await world.store.append(grant, { emitNo, facts: eventFacts(...events) });
  const snapshot = await world.scoped().readSnapshot(grant.taskId, { artifacts: true });
  const artifacts = snapshot?.content.artifacts ?? [];
  const log = await world.events({ no: grant.taskNo });
  expect(artifacts).toEqual(log.reduce(foldContent, emptyContent).artifacts);
  const entries = await world.scoped().listArtifacts(grant.taskId);
  expect(entries).toEqual(artifacts.map(({ parts: _, ...entry }) => entry));
  for (const artifact of artifacts) {
    expect(await world.scoped().readArtifact(grant.taskId, artifact.artifactId)).toEqual(artifact);
  }
  return artifacts;
}

export function describeArtifacts(open: OpenWorld): void {
  describe('artifacts', () => {
    describeChunks(open);
    describeReplacements(open);
    describeInputs(open);
  });
}

function describeChunks(open: OpenWorld): void {
  test('open, grow and close', async () => {
    const world = await open();
    const { grant } = await world.start();
    const opened = await write(world, grant, [{ header: HEADER, parts: [text('a')] }]);
    expect(opened).toEqual([
      {
        artifactId: 'artifact',
        origin: 'output',
        turnNo: 1,
        runNo: grant.runNo,
        header: HEADER,
        baseSeq: 6,
        parts: [text('a')],
      },
    ]);
    expect(Object.keys(opened[0]?.header.metadata ?? {})).toEqual(['b', 'a']);
    const grown = await write(world, grant, [
      { append: true, parts: [text('b'), text('c')] },
      { append: true, lastChunk: true, parts: [text('d')] },
    ]);
    expect(grown).toMatchObject([{ baseSeq: 6, closedSeq: 8, header: HEADER }]);
    expect(grown[0]?.parts).toEqual(['a', 'b', 'c', 'd'].map(text));
  });

  test('close with an empty last part, which is dropped', async () => {
    const world = await open();
    const { grant } = await world.start();
    await write(world, grant, [{ parts: [text('a')] }]);
    const [closed] = await write(world, grant, [{ append: true, lastChunk: true, parts: [text('')] }]);
    expect(closed).toMatchObject({ parts: [text('a')], closedSeq: 7 });
  });

  test('keep an empty part that does not close', async () => {
    const world = await open();
    const { grant } = await world.start();
    const [artifact] = await write(world, grant, [
      { parts: [text('')] },
      { append: true, parts: [text('')] },
      { append: true, lastChunk: true, parts: [text(''), text('')] },
    ]);
    expect(artifact?.parts).toHaveLength(4);
  });

  test('opened by a chunk that says append: unknown ones open, known ones keep their header', async () => {
    const world = await open();
    const { grant } = await world.start();
    const opened = await write(world, grant, [{ append: true, header: HEADER, parts: [text('a')] }]);
    expect(opened).toMatchObject([{ header: HEADER, baseSeq: 6 }]);
    const known = await write(world, grant, [{ append: true, header: { name: 'other' }, parts: [text('b')] }]);
    expect(known).toMatchObject([{ header: HEADER, baseSeq: 6, parts: [text('a'), text('b')] }]);
    const closed = await write(world, grant, [{ append: true, header: {}, lastChunk: true, parts: [text('c')] }]);
    expect(closed).toMatchObject([{ header: HEADER, closedSeq: 8 }]);
  });

  test('opened and closed by one update', async () => {
    const world = await open();
    const { grant } = await world.start();
    const [artifact] = await write(world, grant, [{ lastChunk: true }]);
    expect(artifact).toMatchObject({ baseSeq: 6, closedSeq: 6 });
  });

  test('interleave without touching each other, and stand in the order of their opening', async () => {
    const world = await open();
    const { grant } = await world.start();
    const artifacts = await write(world, grant, [
      { artifactId: 'b', parts: [text('b1')] },
      { artifactId: 'a', parts: [text('a1')] },
      { artifactId: 'b', append: true, parts: [text('b2')] },
      { artifactId: 'a', append: true, lastChunk: true, parts: [text('a2')] },
    ]);
    expect(artifacts.map(({ artifactId, parts }) => [artifactId, parts.length])).toEqual([
      ['b', 2],
      ['a', 2],
    ]);
  });

  test('grow over thousands of chunks', async () => {
    const world = await open();
    const { grant } = await world.start();
    await write(world, grant, [{ parts: [text('0')] }]);
    for (let batch = 0; batch < 20; batch += 1) {
      const facts = Array.from({ length: 100 }, (_, index) =>
        chunk(grant, { append: true, parts: [text(String(batch * 100 + index + 1))] }),
      );
      await world.store.append(grant, { emitNo: 1 + batch * 100, facts: eventFacts(...facts) });
    }
    const artifact = await world.scoped().readArtifact(grant.taskId, id('artifact'));
    expect(artifact?.parts).toEqual(Array.from({ length: 2_001 }, (_, index) => text(String(index))));
  });
}

function describeReplacements(open: OpenWorld): void {
  test('replace the whole content in place and open it again', async () => {
    const world = await open();
    const { grant } = await world.start();
    await write(world, grant, [
      { artifactId: 'a', header: HEADER, lastChunk: true },
      { artifactId: 'b', parts: [text('b')] },
    ]);
    const replaced = await write(world, grant, [{ artifactId: 'a', header: { name: 'new' }, parts: [text('n')] }]);
    expect(replaced).toMatchObject([
      { artifactId: 'a', header: { name: 'new' }, baseSeq: 8, parts: [text('n')] },
      { artifactId: 'b' },
    ]);
    expect(replaced[0]).not.toHaveProperty('closedSeq');
    const grown = await write(world, grant, [{ artifactId: 'a', append: true, lastChunk: true, parts: [text('m')] }]);
    expect(grown).toMatchObject([{ parts: [text('n'), text('m')], baseSeq: 8, closedSeq: 9 }, {}]);
  });

  test('discard one, and open it anew as the last', async () => {
    const world = await open();
    const { grant } = await world.start();
    await write(world, grant, [{ artifactId: 'a' }, { artifactId: 'b' }]);
    const left = await write(world, grant, [{ discard: 'a' }]);
    expect(left.map(({ artifactId }) => artifactId)).toEqual(['b']);
    expect(await world.scoped().readArtifact(grant.taskId, id('a'))).toBeUndefined();
    const again = await write(world, grant, [{ artifactId: 'a', parts: [text('2')] }, { discard: 'unknown' }]);
    expect(again).toMatchObject([{ artifactId: 'b' }, { artifactId: 'a', parts: [text('2')], baseSeq: 9 }]);
  });

  test('follow the order within one batch', async () => {
    const world = await open();
    const { grant } = await world.start();
    const artifacts = await write(world, grant, [
      { artifactId: 'a', parts: [text('1')] },
      { artifactId: 'a', append: true, lastChunk: true, parts: [text('2')] },
      { artifactId: 'a', parts: [text('3')] },
      { discard: 'a' },
      { artifactId: 'a', append: true, header: HEADER, parts: [text('4')] },
      { artifactId: 'b', lastChunk: true },
    ]);
    expect(artifacts).toMatchObject([
      { artifactId: 'a', parts: [text('4')], header: HEADER },
      { artifactId: 'b', closedSeq: 11 },
    ]);
  });
}

function describeInputs(open: OpenWorld): void {
  test('of a message are stored with it and listed by their origin', async () => {
    const world = await open();
    const input: ArtifactUpdated = {
      kind: 'artifact-updated',
      artifactId: id('input-1'),
      origin: 'input',
      turnNo: 1 as never,
      header: { name: 'photo.png' },
      parts: [{ kind: 'raw', raw: Uint8Array.from([1, 2]), filename: 'photo.png', mediaType: 'image/png' }],
      append: false,
      lastChunk: true,
    };
    const { task, grant } = await world.start({ inputs: [input] });
    const entry = {
      artifactId: 'input-1',
      origin: 'input',
      turnNo: 1,
      header: { name: 'photo.png' },
      baseSeq: 3,
      closedSeq: 3,
    };
    expect(await world.scoped().listArtifacts(task.id)).toEqual([entry]);
    expect(await world.scoped().readArtifact(task.id, id('input-1'))).toEqual({ ...entry, parts: input.parts });
    const [first, second] = await write(world, grant, [{ artifactId: 'out' }]);
    expect([first?.origin, second?.origin]).toEqual(['input', 'output']);
    expect(await world.scoped().readArtifact(task.id, id('absent'))).toBeUndefined();
  });
}
