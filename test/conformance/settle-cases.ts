import { describe, expect, test } from 'vitest';
import type { Seq, TurnNo } from '../../src/model/ids.ts';
import type { Fact } from '../../src/store/contract.ts';
import {
  agentMessage,
  chunk,
  endWrite,
  eventFacts,
  FIRST_TURN,
  parkWrite,
  REFUSED,
  received,
  status,
  userMessage,
} from './builders.ts';
import type { OpenWorld } from './store-suite.ts';

export function describeSettlements(open: OpenWorld): void {
  describe('settle', () => {
    test('writes the facts before the events of its write, in one transaction', async () => {
      const world = await open();
      const { task, grant } = await world.start();
      await world.store.append(grant, { emitNo: 0, facts: eventFacts(chunk(grant)) });
      await world.clock.advance(5);
      const facts: Fact[] = [
        ...eventFacts(chunk(grant, { append: true, lastChunk: true })),
        { kind: 'journal', entry: { turnNo: FIRST_TURN, key: 'step:a', kind: 'step', state: 'done', result: '1' } },
        { kind: 'session-state', key: 'k', value: 'v' },
      ];
      const result = await world.store.settle(grant, {
        emitNo: 1,
        facts,
        headSeq: 6 as Seq,
        write: endWrite(grant, 'completed'),
      });
      if (result.kind !== 'written') throw new Error(result.kind);
      expect(result.events.map(({ kind, seq }) => [kind, seq])).toEqual([
        ['artifact-updated', 7],
        ['run-settled', 8],
        ['status-changed', 9],
      ]);
      const now = world.clock.now();
      expect(result.task).toMatchObject({
        state: 'completed',
        headSeq: 9,
        statusSeq: 9,
        endedAt: now,
        fence: grant.fence + 1,
        emitNo: 4,
      });
      expect((await world.view(grant)).task).toEqual(result.task);
      expect(await world.events(task)).toHaveLength(9);
      expect(await world.store.readSessionState(task.sessionNo, 'k')).toBe('v');
    });

    test('on another head has moved and writes nothing', async () => {
      const world = await open();
      const { task, grant } = await world.start();
      await world.command(task, { events: [{ kind: 'cancel-requested', by: 'ann' }] });
      const before = await world.everything(task);
      const request = {
        emitNo: 0,
        facts: [{ kind: 'session-state' as const, key: 'k', value: 'v' }],
        headSeq: task.headSeq,
        write: endWrite(grant, 'completed'),
      };
      expect(await world.store.settle(grant, request)).toEqual({ kind: 'moved' });
      expect(await world.everything(task)).toEqual(before);
      expect(await world.store.readSessionState(task.sessionNo, 'k')).toBeUndefined();
      const decidedAgain = { ...request, headSeq: 6 as Seq, write: endWrite(grant, 'canceled') };
      expect(await world.store.settle(grant, decidedAgain)).toMatchObject({
        kind: 'written',
        task: { state: 'canceled' },
      });
    });

    test('under another emit number is refused and writes nothing', async () => {
      const world = await open();
      const { task, grant } = await world.start();
      await world.store.append(grant, { emitNo: 0, facts: eventFacts(chunk(grant)) });
      const before = await world.everything(task);
      for (const emitNo of [0, 2]) {
        const request = { emitNo, facts: [], headSeq: 6 as Seq, write: endWrite(grant, 'completed') };
        await expect(world.store.settle(grant, request)).rejects.toMatchObject({ code: 'lease_lost' });
      }
      expect(await world.everything(task)).toEqual(before);
    });

    test('ends the right to write, its own second time included', async () => {
      const world = await open();
      const { task, grant } = await world.start();
      const request = { emitNo: 0, facts: [], headSeq: task.headSeq, write: endWrite(grant, 'completed') };
      const results = await Promise.allSettled(Array.from({ length: 5 }, () => world.store.settle(grant, request)));
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'lease_lost' });
      }
      expect((await world.events(task)).filter(({ kind }) => kind === 'run-settled')).toHaveLength(1);
    });

    test('and a cancel at once: one end, the other finds it moved or lost', async () => {
      const world = await open();
      for (let round = 0; round < 10; round += 1) {
        const { task, grant } = await world.start();
        await Promise.allSettled([
          world.store.settle(grant, {
            emitNo: 0,
            facts: [],
            headSeq: task.headSeq,
            write: endWrite(grant, 'completed'),
          }),
          world.store.command(task.no, task.headSeq, endWrite(grant, 'canceled')),
        ]);
        const events = await world.events(task);
        expect(events.map(({ kind }) => kind).slice(5)).toEqual(['run-settled', 'status-changed']);
      }
    });

    test('that parks keeps the facts, the question and the status in one transaction', async () => {
      const world = await open();
      const { grant, task } = await world.start();
      const question = { kind: 'ask', askId: 'ask:x', text: 'Which one?' };
      const write = parkWrite(grant, { wakeKey: 'ask:x' });
      const result = await world.store.settle(grant, {
        emitNo: 0,
        facts: eventFacts({ kind: 'question-asked', askId: 'ask:x', question }),
        headSeq: task.headSeq,
        write: {
          ...write,
          journal: [{ turnNo: FIRST_TURN, key: 'ask:x', kind: 'ask', state: 'open', question }],
        },
      });
      expect(result).toMatchObject({ kind: 'written', task: { state: 'input-required', headSeq: 7 } });
      const view = await world.view(grant);
      expect(view.open).toEqual([{ key: 'ask:x', kind: 'ask', state: 'open', question }]);
      expect(view.run).toMatchObject({ state: 'waiting', wake: { key: 'ask:x' } });
      const snapshot = await world.scoped().readSnapshot(task.id, { artifacts: true });
      expect(snapshot?.content.statusMessage).toEqual(agentMessage('question', 'Which one?'));
      expect(status('working').kind).toBe('status-changed');
    });

    test.each(['completed', 'failed'] as const)('the end %s beside a queued turn is refused', async (state) => {
      const world = await open();
      const { task, grant } = await world.start();
      const turn = world.turn({ turnNo: 2 as TurnNo, messageOrdinal: 1 });
      const { headSeq } = await world.command(task, {
        events: [received(userMessage(turn.messageId), turn.turnNo)],
        turns: [{ kind: 'enqueue', turn }],
      });
      const before = await world.everything(task);
      const write = endWrite(grant, state);
      await expect(world.store.settle(grant, { emitNo: 0, facts: [], headSeq, write })).rejects.toMatchObject(REFUSED);
      await expect(world.store.command(task.no, headSeq, write)).rejects.toMatchObject(REFUSED);
      expect(await world.everything(task)).toEqual(before);
      const turns = [...(write.turns ?? []), { kind: 'drop' as const, turnNo: turn.turnNo }];
      expect(
        (await world.store.settle(grant, { emitNo: 0, facts: [], headSeq, write: { ...write, turns } })).kind,
      ).toBe('written');
    });
  });
}
