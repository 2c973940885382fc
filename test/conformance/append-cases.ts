import { describe, expect, test } from 'vitest';
import type { Fence, TaskNo } from '../../src/model/ids.ts';
import type { Fact } from '../../src/store/contract.ts';
import { agentMessage, chunk, endWrite, eventFacts, FIRST_TURN, parkWrite, status, text } from './builders.ts';
import type { OpenWorld } from './store-suite.ts';

const stepFact = (key: string, result: string): Fact => ({
  kind: 'journal',
  entry: { turnNo: FIRST_TURN, key, kind: 'step', state: 'done', result },
});

export function describeAppends(open: OpenWorld): void {
  describe('append', () => {
    describeWrittenBatches(open);
    describeRepeatedBatches(open);
    describeLostLeases(open);
  });
}

function describeWrittenBatches(open: OpenWorld): void {
  test('writes facts in order, their journal and session state with them', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    await world.clock.advance(10);
    const facts: Fact[] = [
      ...eventFacts(status('working', agentMessage('s1', 'busy'))),
      stepFact('step:a', '1'),
      { kind: 'session-state', key: 'k', value: 'first' },
      ...eventFacts(chunk(grant)),
      { kind: 'session-state', key: 'k', value: 'second' },
      { kind: 'session-state', key: 'gone', value: 'x' },
      stepFact('step:b', '2'),
      stepFact('step:a', '3'),
      { kind: 'session-state', key: 'gone', value: undefined },
    ];
    const result = await world.store.append(grant, { emitNo: 0, facts });
    const at = world.clock.now();
    expect(result).toEqual({
      kind: 'written',
      headSeq: 7,
      events: [
        { ...status('working', agentMessage('s1', 'busy')), seq: 6, at },
        { ...chunk(grant), seq: 7, at },
      ],
    });
    expect((await world.events(task)).slice(5)).toEqual(result.events);
    const material = await world.store.readTurn(grant);
    expect(material.journal).toEqual([
      { key: 'step:a', kind: 'step', state: 'done', result: '3' },
      { key: 'step:b', kind: 'step', state: 'done', result: '2' },
    ]);
    expect(material.task).toMatchObject({ emitNo: 9, headSeq: 7, statusSeq: 6, stateAt: at, generation: 3 });
    expect(await world.store.readSessionState(task.sessionNo, 'k')).toBe('second');
    expect(await world.store.readSessionState(task.sessionNo, 'gone')).toBeUndefined();
  });

  test('goes on where the batch before it ended', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    let emitNo = 0;
    for (const count of [1, 3, 2]) {
      const facts = Array.from({ length: count }, () => eventFacts(chunk(grant))).flat();
      expect((await world.store.append(grant, { emitNo, facts })).kind).toBe('written');
      emitNo += count;
    }
    const events = await world.events(task);
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 11 }, (_, index) => index + 1));
    expect((await world.view(grant)).task.emitNo).toBe(6);
  });

  test('of journal rows alone moves the emit number and not the head', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    expect(await world.store.append(grant, { emitNo: 0, facts: [stepFact('step:a', '1')] })).toEqual({
      kind: 'written',
      events: [],
      headSeq: task.headSeq,
    });
    expect((await world.view(grant)).task).toMatchObject({ emitNo: 1, headSeq: task.headSeq, headAt: task.headAt });
  });

  test('of nothing is a sign of life', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const deadline = { kind: 'idle' as const, inMs: 5_000 };
    expect(await world.store.append(grant, { emitNo: 0, facts: [], deadline })).toMatchObject({ kind: 'written' });
    const view = await world.view(grant);
    expect(view.task).toEqual({ ...task, deadline: { kind: 'idle', at: world.clock.now() + 5_000 } });
  });

  test('of another grant changes nothing of this task', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const other = await world.start({ contextId: task.contextId });
    await world.store.append(other.grant, { emitNo: 0, facts: eventFacts(chunk(other.grant)) });
    expect((await world.view(grant)).task).toEqual(task);
  });

  test('of many tasks at once keeps each log without a hole', async () => {
    const world = await open();
    const started = await Promise.all(Array.from({ length: 8 }, () => world.start()));
    const rounds = Array.from({ length: 10 }, (_, round) => round);
    await Promise.all(
      started.map(async ({ grant }) => {
        for (const round of rounds) {
          const facts = eventFacts(chunk(grant, { append: round > 0, parts: [text(String(round))] }));
          await world.store.append(grant, { emitNo: round, facts });
        }
      }),
    );
    for (const { task } of started) {
      const events = await world.events(task);
      expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 15 }, (_, index) => index + 1));
      const artifact = await world.scoped().readArtifact(task.id, 'artifact' as never);
      expect(artifact?.parts).toEqual(rounds.map((round) => text(String(round))));
    }
  });
}

function describeRepeatedBatches(open: OpenWorld): void {
  test('that was committed before is a success and writes nothing', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const batch = { emitNo: 0, facts: [...eventFacts(chunk(grant), status('working')), stepFact('step:a', '1')] };
    const first = await world.store.append(grant, batch);
    const before = await world.everything(task);
    expect(await world.store.append(grant, batch)).toEqual({ ...first, kind: 'repeated' });
    expect(await world.everything(task)).toEqual(before);
    const next = await world.store.append(grant, { emitNo: 3, facts: eventFacts(status('working')) });
    expect(next).toMatchObject({ kind: 'written', headSeq: 8 });
  });

  test('is recognised after a command came between', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const batch = { emitNo: 0, facts: eventFacts(chunk(grant)) };
    await world.store.append(grant, batch);
    await world.command(task, { events: [{ kind: 'cancel-requested', by: 'issuer|ann' }] });
    expect(await world.store.append(grant, batch)).toMatchObject({ kind: 'repeated', headSeq: 7 });
    expect(await world.events(task)).toHaveLength(7);
  });

  test('sent twice at once is written once', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const batch = { emitNo: 0, facts: eventFacts(chunk(grant), chunk(grant, { append: true })) };
    const results = await Promise.all(Array.from({ length: 5 }, () => world.store.append(grant, batch)));
    expect(results.map(({ kind }) => kind).sort()).toEqual([...Array(4).fill('repeated'), 'written']);
    expect(await world.events(task)).toHaveLength(7);
  });

  test.each([
    ['behind what was written', 0, 1],
    ['ahead of what was written', 5, 1],
    ['overlapping what was written', 1, 3],
  ])('that is no repeat but %s is refused', async (_what, emitNo, count) => {
    const world = await open();
    const { task, grant } = await world.start();
    await world.store.append(grant, { emitNo: 0, facts: eventFacts(chunk(grant), chunk(grant, { append: true })) });
    const before = await world.everything(task);
    const facts = eventFacts(...Array.from({ length: count }, () => status('working')));
    await expect(world.store.append(grant, { emitNo, facts })).rejects.toMatchObject({ code: 'lease_lost' });
    expect(await world.everything(task)).toEqual(before);
  });
}

function describeLostLeases(open: OpenWorld): void {
  test.each([-1, 1])('under another fence (%i) is refused and writes nothing', async (offset) => {
    const world = await open();
    const { task, grant } = await world.start();
    const before = await world.everything(task);
    const facts: Fact[] = [
      ...eventFacts(chunk(grant)),
      stepFact('step:a', '1'),
      { kind: 'session-state', key: 'k', value: 'x' },
    ];
    const stale = { ...grant, fence: (grant.fence + offset) as Fence };
    await expect(world.store.append(stale, { emitNo: 0, facts })).rejects.toMatchObject({ code: 'lease_lost' });
    expect(await world.everything(task)).toEqual(before);
    expect(await world.store.readSessionState(task.sessionNo, 'k')).toBeUndefined();
  });

  test('to a task that is not there is refused', async () => {
    const world = await open();
    const { grant } = await world.start();
    const absent = { ...grant, taskNo: 987_654 as TaskNo };
    const batch = { emitNo: 0, facts: eventFacts(chunk(grant)) };
    await expect(world.store.append(absent, batch)).rejects.toMatchObject({ code: 'lease_lost' });
  });

  test('after the end is refused, the lost run of an ended task too', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    await world.settle(grant, endWrite(grant, 'completed'));
    const before = await world.everything(task);
    const batch = { emitNo: 0, facts: eventFacts(chunk(grant)) };
    await expect(world.store.append(grant, batch)).rejects.toMatchObject({ code: 'lease_lost' });
    await expect(world.store.append(grant, { emitNo: 0, facts: [] })).rejects.toMatchObject({ code: 'lease_lost' });
    expect(await world.everything(task)).toEqual(before);
  });

  test('while the task is not working is refused, whatever the fence says', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const { revokeFence: _, ...write } = parkWrite(grant, { wakeKey: 'ask:x' });
    const parked = await world.settle(grant, write);
    expect(parked.fence).toBe(grant.fence);
    const before = await world.everything(task);
    const batch = { emitNo: 0, facts: eventFacts(chunk(grant)) };
    await expect(world.store.append(grant, batch)).rejects.toMatchObject({ code: 'lease_lost' });
    expect(await world.everything(task)).toEqual(before);
  });

  test('races with a revocation: what was written was written before it', async () => {
    const world = await open();
    for (let round = 0; round < 10; round += 1) {
      const { task, grant } = await world.start();
      const revoke = { events: [{ kind: 'cancel-requested' as const, by: 'ann' }], revokeFence: true };
      const [append] = await Promise.allSettled([
        world.store.append(grant, { emitNo: 0, facts: eventFacts(chunk(grant)) }),
        world.store.command(task.no, task.headSeq, revoke),
      ]);
      const kinds = (await world.events(task)).slice(5).map(({ kind }) => kind);
      if (append.status === 'fulfilled') expect(kinds[0]).toBe('artifact-updated');
      else expect(kinds).toEqual(['cancel-requested']);
    }
  });
}
